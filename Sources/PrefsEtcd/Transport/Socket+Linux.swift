#if os(Linux) || os(Android)
    import Foundation

    /// A broken connection is an error of `send`, and no signal.
    enum SocketSignals {
        static let sendFlags = Int32(MSG_NOSIGNAL)
        /// At once, because another thread may start a program.
        static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)

        static func disable(on descriptor: Int32) {}
    }
#endif
