import Foundation
import PrefsPropertyLists

/// Opens and parses the file at a path.
struct FileReader: Sendable {
    let names: FileNames
    let system: SystemCalls

    /// What is at the path.
    enum Found {
        /// The file was whole at that time, by the monotonic clock.
        case whole(FileState, at: Duration)
        case missing
        case malformed(MalformedBytes)
        /// The file changed while it was read.
        case changing
    }

    /// Opens and parses the file at the path. While the write lock is held, the name is looked up in the locked folder.
    ///
    /// - Parameters:
    ///   - coder: taken when the bytes are read, because a store may add a format meanwhile.
    ///   - volume: the volume of the file when it was read last.
    func find(by coder: @autoclosure () -> ContentCoder, on volume: Volume, under writeLock: WriteLock?) throws -> Found
    {
        // Another file may take the name again and again; each of them is whole.
        for _ in Attempts.all {
            if let found = try findOnce(by: coder, on: volume, under: writeLock) { return found }
        }
        return .changing
    }

    /// - Returns: nil if the file has lost its name, or has a new status and the same bytes.
    private func findOnce(by coder: () -> ContentCoder, on known: Volume, under writeLock: WriteLock?) throws -> Found?
    {
        guard let (file, status) = try open(on: known, under: writeLock) else { return .missing }
        let volume = Volume(of: file.descriptor, system)
        let limit = PropertyListLimits.fileBytes
        do {
            // Before the first read, the volume was not known when the file was opened.
            volume.willClose(file, system)
            let nextStamp = system.nextStamp()
            let bytes = try volume.bytes(of: file, size: status.size, limit: limit, system)
            let time = system.monotonicNow()
            let now = try system.status(of: file.descriptor)
            switch try volume.change(of: file, from: status, to: now, bytes: bytes, limit: limit, system) {
            case .bytes: return .changing
            case .nameOrStatus: return nil
            case .none: break
            }
            let coder = coder()
            func source(_ format: FileFormat?) -> FileState.Source {
                FileState.Source(
                    file: file, status: status, format: format, bytes: FileBytes(bytes), nextStamp: nextStamp,
                    volume: volume)
            }
            do throws(PropertyListFault) {
                let list = try coder.decoded(bytes)
                let source = source(list.format)
                return .whole(
                    FileState(
                        content: list.content, from: source, loss: list.loss,
                        sourceBytes: list.format.coder.isForPeople ? source.bytes : nil, system: system), at: time)
            } catch {
                // It may be a good file of another program, so it is not moved.
                if error.isUnsupported { throw StorageFailure(path: "", reason: "\(error)") }
                let format = bytes.withUnsafeBytes(coder.rules.formats.recognizing)
                return .malformed(MalformedBytes(fault: error, source: source(format)))
            }
        } catch let failure as StorageFailure {
            if volume.tellsOfReplacement(failure) { return nil }
            throw FileError.unreadable(failure.at(names.path))
        }
    }

    /// Opens the file; nil if it is missing.
    private func open(
        on volume: Volume, under writeLock: WriteLock?
    ) throws -> (file: OpenFile, status: FileStatus)? {
        do {
            guard let writeLock else {
                return try volume.openOrFormer(names, .kept, system)
            }
            return try writeLock.volume.openLocked(names.file, in: writeLock.folder, .kept, system)
        } catch {
            throw error.code == ELOOP ? FileError.pathChanged : .unreadable(error.at(names.path))
        }
    }
}

/// A file that is not a property list with the expected top level. It is kept open, but on a server, to distinguish it
/// from a file that replaces it.
struct MalformedBytes {
    let fault: PropertyListFault
    let source: FileState.Source

    var isForPeople: Bool { source.format?.coder.isForPeople == true }
}
