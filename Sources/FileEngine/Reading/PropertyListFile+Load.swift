package import Foundation
package import PrefsPropertyLists

extension PropertyListFile {
    /// The state of the path.
    enum Found {
        /// A readable file, or a missing file.
        case state(Snapshot)
        case malformed(MalformedBytes)
    }

    /// How long an access waits for a missing file that another program may be saving.
    package enum Patience {
        /// Not at all. For files that the program only falls back on.
        case none
        /// Only if the process knows no state that it could return instead.
        case ofRead
        /// Until the file is there or has vanished, because a write depends on it.
        case ofWrite
    }

    /// A file that is not a property list with the expected top level. It is kept open, to distinguish it from a file
    /// that replaces it.
    struct MalformedBytes {
        let fault: PropertyListFault
        let source: Snapshot.Source

        var isForPeople: Bool { source.format?.coder.isForPeople == true }
    }

    /// Reads the file and makes its state the one that reads return. Never changes anything on disk.
    ///
    /// Waits for a young file that seems to be cut off, because another program may be writing it. Waits for half of a
    /// last good copy, too.
    ///
    func load(under writeLock: WriteLock?, _ patience: Patience) throws -> Snapshot {
        var attempts = 0
        while true {
            attempts += 1
            let snapshot: Snapshot?
            switch try find(under: writeLock) {
            case .malformed(let bytes):
                snapshot = try state(inPlaceOf: bytes, isPatient: attempts <= 50, under: writeLock)
            case .state(let state) where state.status == nil:
                switch try duringSave(attempts, patience, under: writeLock) {
                case .missing: snapshot = state
                case .standIn(let saved): return saved
                case .wait: snapshot = nil
                }
            case .state(let state): snapshot = state
            }
            if let snapshot {
                publish(snapshot)
                return snapshot
            }
            system.pause()
        }
    }

    /// Opens and parses the file at the path. While the write lock is held, the name is looked up in the locked folder.
    func find(under writeLock: WriteLock?) throws -> Found {
        // A program that writes in place changes the file between two reads. Such a round is short.
        for _ in 0..<100 {
            if let found = try findOnce(under: writeLock) { return found }
            system.pause()
        }
        throw FileError.unreadable(StorageFailure(path: names.path, reason: "was changed during every attempt"))
    }

    /// nil if the file changed while it was being read.
    private func findOnce(under writeLock: WriteLock?) throws -> Found? {
        guard let (file, status) = try open(under: writeLock) else { return .state(Snapshot(system: system)) }
        do {
            let time = system.now()
            let bytes = try system.readAll(file.descriptor, size: status.size, limit: PropertyListLimits.fileBytes)
            guard try system.status(of: file.descriptor) == status else { return nil }
            func source(_ format: FileFormat?) -> Snapshot.Source {
                Snapshot.Source(file: file, status: status, format: format, bytes: bytes, time: time)
            }
            do {
                let list = try Self.decode(bytes, as: root, in: formats)
                return .state(
                    Snapshot(
                        content: list.content, from: source(list.format), loss: list.loss,
                        written: list.format.coder.isForPeople ? bytes : nil, system: system))
            } catch DecodingFailure.malformed(let fault) {
                let format = bytes.withUnsafeBytes(formats.recognizing)
                return .malformed(MalformedBytes(fault: fault, source: source(format)))
            } catch DecodingFailure.unsupported(let reason) {
                // It may be a good file of another program, so it is not moved.
                throw StorageFailure(path: "", reason: reason)
            }
        } catch let failure as StorageFailure {
            throw FileError.unreadable(failure.at(names.path))
        }
    }

    /// Opens the file; nil if it is missing.
    private func open(under writeLock: WriteLock?) throws -> (file: OpenFile, status: FileStatus)? {
        do {
            guard let writeLock else { return try system.openFile(names, .snapshot) }
            return try system.openFile(names.file, in: writeLock.folder, O_RDONLY, .snapshot)
        } catch {
            throw error.code == ELOOP ? FileError.pathChanged : .unreadable(error.at(names.path))
        }
    }

    /// Decodes the bytes of a file as the content of a domain or of a document.
    package static func decode(
        _ bytes: Data, as root: Root = .domain, in formats: [FileFormat] = .propertyLists
    ) throws(DecodingFailure) -> (content: Content, format: FileFormat, loss: String?) {
        let list = try PropertyListCoder.decode(bytes, as: formats)
        if root == .document { return ([documentKey: list.value], list.format, list.loss) }
        guard let content = list.value.dictionary else { throw .malformed("its top level is not a dictionary") }
        return (content, list.format, list.loss)
    }
}
