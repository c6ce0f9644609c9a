#if os(Linux) || os(Android)
    import Foundation
    import PrefsPropertyLists

    /// Watches folders. All watches of a process share one inotify queue, which exists as long as there are watches. A
    /// forked child watches nothing.
    final class FolderWatcher: Sendable {
        static let shared = FolderWatcher()

        /// - Parameter isGone: whether the folder itself is no longer at its path, or events were lost.
        typealias Handler = @Sendable (_ isGone: Bool) -> Void

        private let queue = Locked<NotificationQueue?>(nil)

        /// Calls the handler, on a private queue, when something happens to a name in a folder, until the returned
        /// object is released.
        func watch(_ names: FileNames, _ handler: @escaping Handler) throws(StorageFailure) -> AnyObject {
            // Dispatch does not run in a forked child.
            guard LockRegistry.forks == 0 else {
                throw StorageFailure(path: names.folder, reason: "cannot be watched in a forked process")
            }
            return try queue.withLock { former throws(StorageFailure) in
                let queue = if let former { former } else { try NotificationQueue() }
                do throws(StorageFailure) {
                    let folder = try queue.add(names, handler)
                    former = queue
                    return Watch(self, folder)
                } catch {
                    if former == nil { queue.close() }
                    throw error
                }
            }
        }

        private func end(_ registration: NotificationQueue.Registration) {
            // The handler is released outside the lock.
            let handler = queue.withLock { queue in
                defer {
                    if queue?.isEmpty == true {
                        queue?.close()
                        queue = nil
                    }
                }
                return queue?.remove(registration)
            }
            withExtendedLifetime(handler) {}
        }

        /// A watch, which ends when the object is released.
        private final class Watch: Sendable {
            private let watcher: FolderWatcher
            private let registration: NotificationQueue.Registration

            init(_ watcher: FolderWatcher, _ registration: NotificationQueue.Registration) {
                self.watcher = watcher
                self.registration = registration
            }

            deinit {
                watcher.end(registration)
            }
        }
    }

    /// An inotify queue, and the handlers of its events.
    final class NotificationQueue: Sendable {
        struct Registration: Sendable {
            fileprivate let folder: Int32
            fileprivate let number: Int
        }

        private let file: OpenFile
        /// Dispatch's sources, which may be used from any thread, are not Sendable.
        nonisolated(unsafe) private let source: any DispatchSourceRead
        private let state = Locked(State())

        private struct State {
            /// The handlers by the number of the folder in the queue and the number of the registration.
            var handlers: [Int32: [Int: (name: [UInt8], handler: FolderWatcher.Handler)]] = [:]
            var registrations = 0
        }

        init() throws(StorageFailure) {
            let descriptor = SystemCalls.aboveStandardStreams(inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)))
            guard descriptor >= 0 else { throw StorageFailure("inotify_init", "", code: errno) }
            file = .kept(descriptor, .real)
            source = DispatchSource.makeReadSource(
                fileDescriptor: descriptor, queue: DispatchQueue(label: "PersistentPreferences.FolderWatcher"))
            source.setEventHandler { [weak self] in self?.read() }
            // Closes the file only after Dispatch has released it.
            source.setCancelHandler { [file] in withExtendedLifetime(file) {} }
            source.activate()
        }

        func close() {
            guard isOfThisProcess else { return }
            if !isQueue { file.abandon() }
            source.cancel()
        }

        /// Whether the descriptor still belongs to an inotify queue. All queues, timers and counters of the system
        /// share one inode.
        private var isQueue: Bool {
            guard let name = try? SystemCalls.real.linkTarget("/proc/self/fd/\(file.descriptor)") else {
                return file.isIntact
            }
            return name == "anon_inode:inotify"
        }

        /// False in a forked child, because the kernel's queue belongs to its parent.
        private var isOfThisProcess: Bool { LockRegistry.forks == 0 }

        var isEmpty: Bool { state.withLock { $0.handlers.isEmpty } }

        func add(_ names: FileNames, _ handler: @escaping FolderWatcher.Handler) throws(StorageFailure) -> Registration
        {
            // IN_MODIFY is for a program that writes in place and keeps the file open. After half of a write the file
            // is incomplete; the other half is another event.
            let events =
                IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB
                | IN_DELETE_SELF | IN_MOVE_SELF | Int32(bitPattern: UInt32(IN_ONLYDIR))
            return try state.withLock { state throws(StorageFailure) in
                let folder = inotify_add_watch(file.descriptor, names.folder, UInt32(bitPattern: events))
                guard folder >= 0 else { throw StorageFailure("inotify_add_watch", names.folder, code: errno) }
                state.registrations += 1
                state.handlers[folder, default: [:]][state.registrations] = (Array(names.file.utf8), handler)
                return Registration(folder: folder, number: state.registrations)
            }
        }

        func remove(_ registration: Registration) -> FolderWatcher.Handler? {
            state.withLock { state in
                let handler = state.handlers[registration.folder]?.removeValue(forKey: registration.number)?.handler
                if state.handlers[registration.folder]?.isEmpty == true {
                    state.handlers[registration.folder] = nil
                    // Fails if the folder was removed, together with its watch.
                    if isOfThisProcess { inotify_rm_watch(file.descriptor, registration.folder) }
                }
                return handler
            }
        }

        /// Reads all events that wait in the queue.
        private func read() {
            // The program may have closed all descriptors, and may use this number for another file.
            guard isQueue else {
                file.abandon()
                return source.cancel()
            }
            var buffer = [UInt8](repeating: 0, count: 1 << 14)
            while true {
                let count = buffer.withUnsafeMutableBytes { Foundation.read(file.descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else { return }
                let calls = buffer.withUnsafeBytes { handlers(for: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                for (handler, isGone) in calls { handler(isGone) }
            }
        }

        /// The handlers of the events in the bytes, each once.
        func handlers(for bytes: UnsafeRawBufferPointer) -> [(FolderWatcher.Handler, isGone: Bool)] {
            var found: [Int: (FolderWatcher.Handler, isGone: Bool)] = [:]
            let header = MemoryLayout<inotify_event>.size
            var rest = bytes
            state.withLock { state in
                let handlers = state.handlers
                while rest.count >= header {
                    let event = rest.loadUnaligned(as: inotify_event.self)
                    let name = rest[header..<(header + Int(event.len))].prefix { $0 != 0 }
                    rest = UnsafeRawBufferPointer(rebasing: rest[(header + Int(event.len))...])
                    let isLost = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                    let isGone =
                        isLost || event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED) != 0
                    for handlers in isLost ? Array(handlers.values) : [handlers[event.wd] ?? [:]] {
                        for (number, entry) in handlers where isGone || name.elementsEqual(entry.name) {
                            found[number] = (entry.handler, isGone || found[number]?.isGone ?? false)
                        }
                    }
                }
            }
            return Array(found.values)
        }
    }
#endif
