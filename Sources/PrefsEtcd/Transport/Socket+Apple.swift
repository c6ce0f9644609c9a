#if canImport(Darwin)
    import Foundation

    /// A broken connection is an error of `send`, and no signal.
    enum SocketSignals {
        static let sendFlags: Int32 = 0
        /// There is no such flag.
        static let closeOnExec: Int32 = 0

        /// `SO_NOSIGPIPE` of sys/socket.h.
        static func disable(on descriptor: Int32) {
            var isOn: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, 0x1022, &isOn, socklen_t(MemoryLayout<Int32>.size))
        }
    }
#endif
