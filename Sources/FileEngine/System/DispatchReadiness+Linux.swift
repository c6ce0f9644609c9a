#if os(Linux) || os(Android)
    import Foundation
    import PrefsPropertyLists

    /// The descriptors that Dispatch takes when it starts, made by the same calls, one of which may be forbidden.
    final class DispatchDescriptors: Sendable {
        static let areNeeded = true

        /// Other threads of the program may take as many between the release and the start of Dispatch.
        private static let spare = 4

        private let descriptors = Locked<[Int32]>([])

        init() throws(StorageFailure) {
            try add("epoll_create1", Self.makeEpoll(Int32(O_CLOEXEC)))
            try add("timerfd_create", Self.makeTimer(Int32(CLOCK_MONOTONIC), Int32(O_CLOEXEC)))
            // One wakes the thread that waits for events, and one the main queue.
            for _ in 0..<2 + Self.spare { try add("eventfd", Self.makeEvent(0, Int32(O_CLOEXEC))) }
        }

        deinit {
            release()
        }

        private func add(_ call: String, _ descriptor: Int32) throws(StorageFailure) {
            guard descriptor >= 0 else { throw StorageFailure(call, "", code: errno) }
            descriptors.withLock { $0.append(descriptor) }
        }

        func release() {
            let last = descriptors.withLock { descriptors in
                defer { descriptors = [] }
                return descriptors
            }
            for descriptor in last { close(descriptor) }
        }

        // The system's module does not have these.

        @_silgen_name("epoll_create1")
        private static func makeEpoll(_ flags: Int32) -> Int32

        @_silgen_name("eventfd")
        private static func makeEvent(_ count: UInt32, _ flags: Int32) -> Int32

        @_silgen_name("timerfd_create")
        private static func makeTimer(_ clock: Int32, _ flags: Int32) -> Int32
    }
#endif
