#if os(Linux) || os(Android)
    package import Foundation
    package import AppleFolderWatch

    /// A model of `open` with `O_EVTONLY` and of `DispatchSource.makeFileSystemObjectSource`, on top of inotify. Both
    /// kinds of watches are attached to the open file, not to its path. Where sources promise different events, the
    /// model reports the fewest.
    ///
    /// It calls `violated` for a use of sources or descriptors that is undefined on Apple platforms.
    ///
    /// ## Files
    /// - Assumption: A write to a file is reported as WRITE, with EXTEND if the file grew, before the file is closed.
    ///   Source: kqueue(2), NOTE_WRITE and NOTE_EXTEND.
    /// - Assumption: `ftruncate` to a smaller size is reported as ATTRIB at least.
    ///   Source: undocumented; XNU, bsd/vfs/kpi_vfs.c, VNOP_SETATTR posts NOTE_ATTRIB.
    /// - Assumption: A store to mapped memory is not reported.
    ///   Source: undocumented; kqueue(2) names writes only.
    /// - Assumption: `chmod`, `chown` and changes of times and of extended attributes are reported as ATTRIB.
    ///   Source: kqueue(2), NOTE_ATTRIB; XNU, bsd/vfs/kpi_vfs.c, VNOP_SETATTR and VNOP_SETXATTR.
    /// - Assumption: `unlink` is reported as DELETE, even while the file is open or has other names.
    ///   Source: kqueue(2), NOTE_DELETE; XNU, bsd/vfs/kpi_vfs.c, VNOP_REMOVE.
    /// - Assumption: If a file is renamed over another one, the replaced one reports DELETE and the renamed one RENAME.
    ///   Source: kqueue(2), NOTE_RENAME; XNU, bsd/vfs/kpi_vfs.c, post_rename.
    /// - Assumption: A new hard link to a file is not reported, since only LINK, which is not asked for, says so.
    ///   Source: kqueue(2), NOTE_LINK; XNU, bsd/vfs/kpi_vfs.c, VNOP_LINK.
    ///
    /// ## Folders
    /// - Assumption: A folder reports a name that is made, removed, renamed or replaced in it as WRITE.
    ///   Source: undocumented; XNU, bsd/vfs/kpi_vfs.c, VNOP_CREATE, _REMOVE, _LINK, _SYMLINK, _MKDIR, _RMDIR and post_rename.
    /// - Assumption: A folder does not report writes to the files in it, nor changes of their attributes.
    ///   Source: kqueue(2), NOTE_WRITE is about the file that the descriptor refers to.
    /// - Assumption: A folder reports its own `rmdir` as DELETE, its own `rename` as RENAME, and no `rename` above it.
    ///   Source: kqueue(2), NOTE_DELETE and NOTE_RENAME; XNU, bsd/vfs/kpi_vfs.c, VNOP_RMDIR.
    /// - Assumption: An unmounted volume is reported as REVOKE.
    ///   Source: kqueue(2), NOTE_REVOKE.
    /// - Assumption: The volume supports events. Of some network volumes and others, sources report nothing, or less.
    ///   Source: kqueue(2), BUGS.
    ///
    /// ## Descriptors
    /// - Assumption: `O_EVTONLY` needs permission to read.
    ///   Source: undocumented; open(2) says "descriptor requested for event notifications only".
    /// - Assumption: `O_EVTONLY` combines with `O_DIRECTORY`, `O_NONBLOCK` and `O_NOFOLLOW_ANY`; `fstat` works then.
    ///   Source: undocumented; open(2).
    /// - Assumption: To open a FIFO with `O_EVTONLY` lets a waiting writer go on, so that it must not be done.
    ///   Source: undocumented; open(2), O_NONBLOCK.
    /// - Assumption: A descriptor must stay open until the cancel handler of its source is called, and must then be closed.
    ///   Source: dispatch_source_create(3), "Cancellation".
    ///
    /// ## Sources
    /// - Assumption: A source is registered at its activation or later. What happens before is never reported.
    ///   Source: dispatch/source.h, "once the corresponding kevent() has been registered with the system".
    /// - Assumption: Unless the source is cancelled before, the registration handler is called once, before the first event.
    ///   Source: dispatch/source.h, dispatch_source_set_registration_handler; the order is undocumented.
    /// - Assumption: Events that wait for the event handler become one call, with their union. No kind of event is dropped.
    ///   Source: dispatch_source_create(3), "Data-type-specific"; kqueue(2), EV_CLEAR.
    /// - Assumption: Handlers run on the source's queue, one at a time.
    ///   Source: dispatch/source.h, dispatch_source_set_event_handler.
    /// - Assumption: After `cancel()` no event handler begins; then the cancel handler is called, once.
    ///   Source: dispatch/source.h, dispatch_source_cancel.
    /// - Assumption: A source that is released while it is inactive ends the process.
    ///   Source: dispatch/object.h, dispatch_activate; libdispatch, src/source.c.
    /// - Assumption: A source that is released without being cancelled never calls its cancel handler.
    ///   Source: undocumented; libdispatch, src/source.c.
    package final class ModelVnodes: VnodeSystem, @unchecked Sendable {
        /// A step of a source that happens some time after its cause.
        package enum Step: Sendable { case registration, event }

        private struct Descriptor {
            weak var source: ModelVnodeSource?
            /// Whether a source was made whose cancel handler was not called yet.
            var isInUse = false
        }

        private let lock = NSLock()
        private let delay: DispatchTimeInterval?
        private let violated: @Sendable (String) -> Void
        // Under the lock.
        private var heldSteps: Set<Step> = []
        private var held: [(queue: DispatchQueue, action: @Sendable () -> Void)] = []
        private var descriptors: [Int32: Descriptor] = [:]
        private var opened = 0
        private var hook: (@Sendable (String) -> Int32?)?

        /// - Parameters:
        ///   - delay: the delay of registrations and events; nil for sources that `activate()` registers at once.
        ///   - violated: called with a description of each violation.
        package init(
            delay: DispatchTimeInterval? = nil, violated: @escaping @Sendable (String) -> Void = { fatalError($0) }
        ) {
            self.delay = delay
            self.violated = violated
        }

        /// Called before a path is opened. If it returns a number, opening fails with that `errno`.
        package var onOpen: (@Sendable (String) -> Int32?)? {
            get { lock.withLock { hook } }
            set { lock.withLock { hook = newValue } }
        }

        package var openDescriptors: [Int32] { lock.withLock { descriptors.keys.sorted() } }

        /// The number of descriptors that were ever opened.
        package var opensEver: Int { lock.withLock { opened } }

        /// Holds these steps back until `release` or `resume`.
        package func hold(_ steps: Step...) {
            lock.withLock { heldSteps.formUnion(steps) }
        }

        /// Runs the waiting steps and the steps that they cause, with all events so far. Steps of later causes keep
        /// waiting.
        package func release() {
            ModelVnodeKernel.shared.drain()
            let actions = lock.withLock {
                defer { held = [] }
                return held
            }
            for held in actions { held.queue.sync(execute: held.action) }
        }

        /// Runs the waiting steps, and holds no step back any more.
        package func resume() {
            lock.withLock { heldSteps = [] }
            release()
        }

        func schedule(_ step: Step, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
            let isHeld = lock.withLock {
                guard heldSteps.contains(step) else { return false }
                held.append((queue, action))
                return true
            }
            if isHeld { return }
            if let delay {
                queue.asyncAfter(deadline: .now() + delay, execute: action)
            } else {
                queue.async(execute: action)
            }
        }

        /// Whether sources are registered by their activation.
        var registersAtOnce: Bool { lock.withLock { delay == nil && !heldSteps.contains(.registration) } }

        func report(_ violation: String) {
            violated(violation)
        }

        // MARK: - VnodeSystem

        package func open(_ path: String, _ flags: Int32) -> Int32 {
            if let code = onOpen?(path) {
                errno = code
                return -1
            }
            let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | flags)
            let code = errno
            if descriptor >= 0 {
                lock.withLock {
                    descriptors[descriptor] = Descriptor()
                    opened += 1
                }
            }
            errno = code
            return descriptor
        }

        package func close(_ descriptor: Int32) {
            let state = lock.withLock { descriptors.removeValue(forKey: descriptor) }
            guard let state else { return report("descriptor \(descriptor) is closed, but is not open") }
            if state.isInUse {
                report("descriptor \(descriptor) is closed before the cancel handler of its source is called")
            }
            _ = Foundation.close(descriptor)
        }

        package func source(_ descriptor: Int32, _ events: VnodeEvents, on queue: DispatchQueue) -> any VnodeSource {
            let source = ModelVnodeSource(self, descriptor, events, queue)
            let isOpen = lock.withLock { descriptors[descriptor] != nil }
            if !isOpen { report("a source is made of descriptor \(descriptor), which is not open") }
            lock.withLock { descriptors[descriptor] = Descriptor(source: source, isInUse: true) }
            return source
        }

        func willCallCancelHandler(of descriptor: Int32) {
            lock.withLock { descriptors[descriptor]?.isInUse = false }
        }

        func didCallCancelHandler(of descriptor: Int32, _ source: ModelVnodeSource) {
            let isLeft = lock.withLock { descriptors[descriptor]?.source === source }
            if isLeft { report("descriptor \(descriptor) is open after the cancel handler of its source") }
        }
    }
#endif
