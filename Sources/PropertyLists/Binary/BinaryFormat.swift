package import Foundation

/// The format `FileFormat.binary`.
package final class BinaryFormat: FileFormatCoder {
    static let coder = BinaryFormat()

    package let name = "binary"

    package func recognizes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: BinaryPropertyListLayout.magic)
    }

    package func value(in bytes: UnsafeRawBufferPointer) throws(PropertyListFault) -> (
        value: StoredValue, loss: String?
    ) {
        try BinaryPropertyListReader.value(in: bytes)
    }

    package func bytes(
        from value: StoredValue, replacing former: StoredValue?, written: Data?
    ) throws(PropertyListFailure) -> FileBytes {
        do throws(PropertyListFailure) {
            let bytes = try BinaryPropertyListWriter.data(from: value)
            #if DEBUG
                Self.check.withLock { $0 }?.run(bytes, value)
            #endif
            return FileBytes(bytes)
        } catch {
            guard let key = value.dictionary?.filter(\.value.holdsForeign).keys.min() else { throw error }
            throw PropertyListFailure(path: key, topLevelKey: key, reason: error.reason)
        }
    }
}

#if DEBUG
    extension BinaryFormat {
        /// What tests do with each binary list that is written: they read it back. A struct, because a closure gets one more
        /// thunk each time that it goes through a generic function.
        package struct Check: Sendable {
            let run: @Sendable (Data, StoredValue) -> Void

            package init(_ run: @escaping @Sendable (Data, StoredValue) -> Void) { self.run = run }
        }

        package static let check = Locked<Check?>(nil)
    }
#endif
