#if os(Linux) || os(Android)
    import Foundation

    extension DetachedThread {
        // A constant, because the compiler of Swift 6.3 does not accept a literal closure as the argument.
        private static let routine: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
            perform($0)
        }

        /// Starts a thread. False if the system has none to give.
        static func create(_ work: UnsafeMutableRawPointer) -> Bool {
            var thread = pthread_t()
            return pthread_create(&thread, nil, routine, work) == 0
        }
    }
#endif
