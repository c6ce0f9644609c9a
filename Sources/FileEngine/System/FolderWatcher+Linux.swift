#if os(Linux) || os(Android)
    import Foundation
    import PrefsPropertyLists

    /// Watches folders. All watches of a process share one inotify queue, which stays open once it is needed: a user has
    /// few of them, and closing one takes long. A forked child watches nothing.
    final class FolderWatcher: Sendable {
        static let shared = FolderWatcher()

        typealias Handler = FolderHandlers.Handler

        private let queue = Locked<NotificationQueue?>(nil)

        /// Calls the handler, on a private thread, when something happens to a name in a folder, or when a folder on the
        /// path is moved or removed, until the returned object is released. The empty name stands for all names.
        func watch(_ names: FileNames, _ handler: @escaping Handler) throws(StorageFailure) -> AnyObject {
            // Dispatch does not run in a forked child.
            guard !ProcessMark.isInForkedChild else {
                throw StorageFailure(path: names.folder, reason: "cannot be watched in a forked process")
            }
            let queue = try queue.withLock { current throws(StorageFailure) in
                if let current, current.isOpen { return current }
                let new = try NotificationQueue(replacing: current)
                current = new
                return new
            }
            return Watch(queue, try queue.add(names, handler))
        }

        /// A watch, which ends when the object is released.
        private final class Watch: Sendable {
            private let queue: NotificationQueue
            private let registration: FolderHandlers.Registration

            init(_ queue: NotificationQueue, _ registration: FolderHandlers.Registration) {
                self.queue = queue
                self.registration = registration
            }

            deinit {
                // The handler is released outside the lock.
                withExtendedLifetime(queue.remove(registration)) {}
            }
        }
    }

    /// An inotify queue, and the handlers of its events.
    final class NotificationQueue: Sendable {
        private let file: OpenFile
        /// Made by the thread that `init` starts, which keeps the object until then.
        nonisolated(unsafe) private var source: (any DispatchSourceRead)?
        private let handlers = Locked(FolderHandlers())

        /// - Parameter lost: the former queue, which the program has closed. Its handlers are called, so that they watch
        ///   again.
        init(replacing lost: NotificationQueue? = nil) throws(StorageFailure) {
            // Before the queue is made, because closing it would take long.
            let descriptors = try DispatchReadiness.shared.reserve()
            var descriptor = StandardStreams.above(inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)))
            if let lost, descriptor == lost.file.descriptor {
                // Dispatch still knows this number as that of the lost queue.
                descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, descriptor + 1)
                _ = Foundation.close(lost.file.descriptor)
            }
            guard descriptor >= 0 else { throw StorageFailure("inotify_init", "", code: errno) }
            file = .kept(descriptor, .real)
            // Dispatch waits for ever in the calling thread if it cannot start a thread.
            let hasStarted = DispatchSemaphore(value: 0)
            let hasThread = DetachedThread.start { [self] in
                DispatchReadiness.shared.start(with: descriptors)
                hasStarted.signal()
                listen()
                lost?.handlers.withLock { $0.all }.forEach { $0(true) }
            }
            guard hasThread else {
                let reason = "cannot be watched, because no thread can start; raise the limit of processes (ulimit -u)"
                throw StorageFailure(path: "", reason: reason, code: EAGAIN)
            }
            // This thread opens the file next, and must not take what is there for Dispatch.
            if descriptors != nil { _ = hasStarted.wait(timeout: .now() + .seconds(1)) }
        }

        private func listen() {
            let source = DispatchSource.makeReadSource(
                fileDescriptor: file.descriptor, queue: DispatchQueue(label: "PersistentPreferences.FolderWatcher"))
            self.source = source
            source.setEventHandler { [weak self] in self?.read() }
            // Closes the file only after Dispatch has released it.
            source.setCancelHandler { [file] in withExtendedLifetime(file) {} }
            source.activate()
        }

        deinit {
            guard !ProcessMark.isInForkedChild else {
                // A forked child must not release objects of Dispatch.
                source.map { _ = Unmanaged.passRetained($0 as AnyObject) }
                return
            }
            if !isOpen { file.abandon() }
            source?.cancel()
        }

        /// Whether the descriptor still belongs to an inotify queue. All queues, timers and counters of the system
        /// share one inode.
        var isOpen: Bool {
            guard let name = try? SystemCalls.real.linkTarget("/proc/self/fd/\(file.descriptor)") else {
                return file.isIntact
            }
            return name == "anon_inode:inotify"
        }

        func add(
            _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
        ) throws(StorageFailure) -> FolderHandlers.Registration {
            let own = IN_MOVE_SELF | IN_DELETE_SELF | Int32(bitPattern: UInt32(IN_ONLYDIR))
            // IN_MODIFY is for a program that writes in place and keeps the file open. After half of a write the file
            // is incomplete; the other half is another event.
            let events =
                own | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB
            return try handlers.withLock { handlers throws(StorageFailure) in
                // From the top, so that a folder that is exchanged meanwhile is noticed. A folder that must not be read
                // cannot be watched.
                let folders = names.foldersAbove.map { watch($0, own) }.filter { $0 >= 0 }
                let folder = watch(names.folder, events)
                let code = errno
                var places = folders.map { (folder: $0, scope: FolderHandlers.Scope.end) }
                if folder >= 0 {
                    places.append((folder, names.file.isEmpty ? .allNames : .name(Array(names.file.utf8))))
                }
                let registration = handlers.add(handler, at: places)
                guard folder >= 0 else {
                    _ = remove(registration, from: &handlers)
                    throw StorageFailure("inotify_add_watch", names.folder, code: code)
                }
                return registration
            }
        }

        /// Adds to the events of a folder that is already watched.
        private func watch(_ folder: String, _ events: Int32) -> Int32 {
            inotify_add_watch(file.descriptor, folder, UInt32(bitPattern: events | IN_MASK_ADD))
        }

        func remove(_ registration: FolderHandlers.Registration) -> FolderWatcher.Handler? {
            handlers.withLock { remove(registration, from: &$0) }
        }

        private func remove(
            _ registration: FolderHandlers.Registration, from handlers: inout FolderHandlers
        ) -> FolderWatcher.Handler? {
            let (handler, unwatched) = handlers.remove(registration)
            // Fails if the folder was removed, together with its watch. The queue of a forked child belongs to its parent.
            if !ProcessMark.isInForkedChild { for folder in unwatched { inotify_rm_watch(file.descriptor, folder) } }
            return handler
        }

        /// Reads all events that wait in the queue.
        private func read() {
            // The program may have closed all descriptors, and may use this number for another file.
            guard isOpen else {
                file.abandon()
                source?.cancel()
                return
            }
            var buffer = [UInt8](repeating: 0, count: 1 << 14)
            while true {
                let count = buffer.withUnsafeMutableBytes { Foundation.read(file.descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else { return }
                let calls = buffer.withUnsafeBytes { handlers(for: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                for (handler, isGone) in calls { handler(isGone) }
            }
        }

        func handlers(for bytes: UnsafeRawBufferPointer) -> [(FolderWatcher.Handler, isGone: Bool)] {
            handlers.withLock { $0.handlers(for: bytes) }
        }
    }

    extension FileNames {
        /// The folders above the file's folder, from the top, without the root folder.
        fileprivate var foldersAbove: [String] {
            var above: [String] = []
            var folder = FileNames(path: folder).folder
            while folder != "/" {
                above.insert(folder, at: 0)
                folder = FileNames(path: folder).folder
            }
            return above
        }
    }
#endif
