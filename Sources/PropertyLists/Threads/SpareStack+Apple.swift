#if canImport(Darwin)
    import Foundation

    extension SpareStack {
        private static let start: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { perform($0) }

        /// Runs a thread to its end. False if the system has none to give.
        static func runThread(_ attributes: UnsafePointer<pthread_attr_t>, _ work: UnsafeMutableRawPointer) -> Bool {
            var thread: pthread_t?
            guard pthread_create(&thread, attributes, start, work) == 0, let thread else { return false }
            pthread_join(thread, nil)
            return true
        }
    }
#endif
