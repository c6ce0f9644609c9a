import Foundation

@testable import PrefsFileEngine

/// Fails one flush, by its number. A flush of the folder comes after that of the file.
final class FailingFlush: SystemCalls, @unchecked Sendable {
    nonisolated(unsafe) var syncs = 0
    private let failing: Int

    init(_ failing: Int) { self.failing = failing }

    override func synchronize(_ descriptor: Descriptor) throws(StorageFailure) {
        syncs += 1
        if syncs == failing { throw StorageFailure("fsync", "", code: EIO) }
    }

    override func pause() {}
}
