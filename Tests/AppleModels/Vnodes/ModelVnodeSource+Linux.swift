#if os(Linux) || os(Android)
    import Foundation
    import AppleFolderWatch

    /// A source of `ModelVnodes`, which lists what is assumed.
    final class ModelVnodeSource: VnodeSource, @unchecked Sendable {
        private enum State { case inactive, active, cancelled }

        let descriptor: Int32
        private let system: ModelVnodes
        private let mask: VnodeEvents
        private let queue: DispatchQueue
        private let lock = NSLock()
        // Under the lock.
        private var state = State.inactive
        private var handlers = Handlers()
        private var waiting: VnodeEvents = []
        private var isScheduled = false
        private var handled: VnodeEvents?
        /// The size and the links when events were last taken from the kernel.
        private var size = 0
        private var links = 0

        private struct Handlers {
            var registration: (@Sendable () -> Void)?
            var event: (@Sendable () -> Void)?
            var cancel: (@Sendable () -> Void)?
        }

        init(_ system: ModelVnodes, _ descriptor: Int32, _ mask: VnodeEvents, _ queue: DispatchQueue) {
            self.system = system
            self.descriptor = descriptor
            self.mask = mask
            self.queue = queue
        }

        deinit {
            switch state {
            case .inactive: system.report("the source of descriptor \(descriptor) is released while it is inactive")
            case .active: system.report("the source of descriptor \(descriptor) is released without being cancelled")
            case .cancelled: break
            }
        }

        // MARK: - VnodeSource

        var data: VnodeEvents {
            let events = lock.withLock { handled }
            if events == nil { system.report("data is read outside of the event handler") }
            return events ?? []
        }

        func setRegistrationHandler(_ handler: @escaping @Sendable () -> Void) {
            set { $0.registration = handler }
        }

        func setEventHandler(_ handler: @escaping @Sendable () -> Void) {
            set { $0.event = handler }
        }

        func setCancelHandler(_ handler: @escaping @Sendable () -> Void) {
            set { $0.cancel = handler }
        }

        private func set(_ change: (inout Handlers) -> Void) {
            let isInactive = lock.withLock {
                change(&handlers)
                return state == .inactive
            }
            if !isInactive { system.report("a handler is set after the activation") }
        }

        func activate() {
            let isFirst = lock.withLock {
                guard state == .inactive else { return false }
                state = .active
                return true
            }
            guard isFirst else { return system.report("a source is activated twice, or after it was cancelled") }
            let registersAtOnce = system.registersAtOnce
            if registersAtOnce { register() }
            system.schedule(.registration, on: queue) { [self] in
                if !registersAtOnce { register() }
                let handler = lock.withLock { state == .active ? handlers.registration : nil }
                handler?()
            }
        }

        private func register() {
            let isActive = lock.withLock {
                guard state == .active else { return false }
                var status = stat()
                fstat(descriptor, &status)
                (size, links) = (Int(status.st_size), Int(status.st_nlink))
                return true
            }
            guard isActive else { return }
            ModelVnodeKernel.shared.attach(self)
            // The source may have been cancelled in the meantime.
            if lock.withLock({ state == .cancelled }) { ModelVnodeKernel.shared.detach(self) }
        }

        func cancel() {
            let before = lock.withLock {
                defer { (state, waiting) = (.cancelled, []) }
                return state
            }
            guard before != .cancelled else { return }
            if before == .inactive { system.report("a source is cancelled before it is activated") }
            ModelVnodeKernel.shared.detach(self)
            queue.async { [self] in
                let handler = lock.withLock {
                    defer { handlers = Handlers() }
                    return handlers.cancel
                }
                system.willCallCancelHandler(of: descriptor)
                handler?()
                system.didCallCancelHandler(of: descriptor, self)
            }
        }

        // MARK: - Events

        /// Takes an event from the kernel.
        ///
        /// - Parameter isOfParent: whether it is an event of the folder that contains this folder.
        func note(_ event: UInt32, hasName: Bool, isOfParent: Bool) {
            let isFirst = lock.withLock {
                guard state == .active else { return false }
                let events = translate(event, hasName: hasName, isOfParent: isOfParent).intersection(mask)
                guard !events.isEmpty else { return false }
                waiting.formUnion(events)
                defer { isScheduled = true }
                return !isScheduled
            }
            if isFirst { system.schedule(.event, on: queue) { [self] in deliver() } }
        }

        private func deliver() {
            let handler = lock.withLock { () -> (@Sendable () -> Void)? in
                isScheduled = false
                guard state == .active, !waiting.isEmpty else { return nil }
                handled = waiting
                waiting = []
                return handlers.event
            }
            handler?()
            lock.withLock { handled = nil }
        }

        /// Under the lock.
        private func translate(_ event: UInt32, hasName: Bool, isOfParent: Bool) -> VnodeEvents {
            func has(_ flags: Int32...) -> Bool { flags.contains { event & UInt32($0) != 0 } }
            var status = stat()
            fstat(descriptor, &status)
            // An open folder has no event of its removal, only the folder that held it.
            if isOfParent {
                defer { links = Int(status.st_nlink) }
                return status.st_nlink == 0 && links > 0 ? .delete : []
            }
            if hasName { return has(IN_CREATE, IN_DELETE, IN_MOVED_FROM, IN_MOVED_TO) ? .write : [] }
            var events: VnodeEvents = []
            if has(IN_MODIFY) {
                events.formUnion(
                    status.st_size < size ? .attrib : status.st_size > size ? [.write, .extend] : .write)
                size = Int(status.st_size)
            }
            if has(IN_ATTRIB) {
                let now = Int(status.st_nlink)
                // A removed name is DELETE and not ATTRIB; a new one is neither.
                events.formUnion(now < links ? .delete : now > links ? [] : .attrib)
                links = now
            }
            if has(IN_MOVE_SELF) { events.formUnion(.rename) }
            if has(IN_DELETE_SELF) { events.formUnion(.delete) }
            if has(IN_UNMOUNT) { events.formUnion(.revoke) }
            return events
        }
    }
#endif
