public import Foundation

/// Accessors that keep the type of the error that their closure throws. Foundation's accessors lose it.
extension Data {
    @inlinable package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeBytes { buffer in
            Result { () throws(E) in try body(buffer) }
        }.get()
    }

    @inlinable package mutating func withMutableBytes<R, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeMutableBytes { buffer in
            Result { () throws(E) in try body(buffer) }
        }.get()
    }
}
