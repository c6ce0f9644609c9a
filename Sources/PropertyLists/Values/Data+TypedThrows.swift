public import Foundation

/// An accessor that keeps the type of the error that its closure throws. Foundation's accessors lose it.
extension Data {
    @inlinable package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withUnsafeBytes { buffer in
            Result { () throws(E) in try body(buffer) }
        }.get()
    }
}
