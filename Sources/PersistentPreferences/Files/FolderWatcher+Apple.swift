#if canImport(Darwin)
    import Foundation

    /// Watches folders by descriptors that are open for events only. Type-checked only: never run.
    final class FolderWatcher: Sendable {
        static let shared = FolderWatcher()

        /// - Parameter isGone: whether the folder itself is no longer at its path.
        typealias Handler = @Sendable (_ isGone: Bool) -> Void

        private let queue = DispatchQueue(label: "PersistentPreferences.FolderWatcher")

        /// Calls the handler, on a private queue, when something happens to a name in a folder, or to another name there,
        /// until what is returned is released.
        func watch(_ names: FileNames, _ handler: @escaping Handler) throws(StorageFailure) -> AnyObject {
            try FolderWatch(names, on: queue, handler)
        }
    }

    /// A folder, whose names come and go, and the file in it, which is perhaps written in place. Ends with the object.
    private final class FolderWatch: @unchecked Sendable {
        private let names: FileNames
        private let queue: DispatchQueue
        private let handler: FolderWatcher.Handler
        private let folder: any DispatchSourceFileSystemObject
        /// Belongs to the queue, once the folder's source is active.
        private var file: (any DispatchSourceFileSystemObject)?

        init(
            _ names: FileNames, on queue: DispatchQueue, _ handler: @escaping FolderWatcher.Handler
        ) throws(StorageFailure) {
            self.names = names
            self.queue = queue
            self.handler = handler
            folder = try Self.source(names.folder, O_DIRECTORY, [.write, .delete, .rename, .revoke], on: queue)
            watchFile()
            folder.setEventHandler { [weak self] in self?.hearOfFolder() }
            folder.activate()
        }

        deinit {
            folder.cancel()
            file?.cancel()
        }

        private func hearOfFolder() {
            // It may be another file by now; and the handler looks at it once it is watched.
            watchFile()
            handler(!folder.data.isDisjoint(with: [.delete, .rename, .revoke]))
        }

        /// A file that is not there, or may not be opened, gives no sign until the folder does.
        private func watchFile() {
            file?.cancel()
            file = nil
            let system = SystemCalls.real
            guard (try? system.status(ofPath: names.path, followsLinks: false))??.kind == .file else { return }
            file = try? Self.source(
                names.path, SystemCalls.followsNoLinks | O_NONBLOCK | O_NOCTTY,
                [.write, .extend, .attrib, .delete, .rename], on: queue)
            file?.setEventHandler { [handler] in handler(false) }
            file?.activate()
        }

        private static func source(
            _ path: String, _ flags: Int32, _ events: DispatchSource.FileSystemEvent, on queue: DispatchQueue
        ) throws(StorageFailure) -> any DispatchSourceFileSystemObject {
            let descriptor = Foundation.open(path, O_EVTONLY | O_CLOEXEC | flags)
            guard descriptor >= 0 else { throw StorageFailure("open", path, code: errno) }
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: events, queue: queue)
            source.setCancelHandler { _ = Foundation.close(descriptor) }
            return source
        }
    }
#endif
