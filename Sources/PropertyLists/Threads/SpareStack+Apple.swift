#if canImport(Darwin)
    import Foundation

    extension SpareStack {
        private static let routine: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
            perform($0)
        }

        private static let detachedRoutine: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
            performDetached($0)
        }

        /// Starts a thread. False if the system has none to give.
        static func detachThread(
            _ attributes: UnsafePointer<pthread_attr_t>, _ work: UnsafeMutableRawPointer
        ) -> Bool {
            var thread: pthread_t?
            guard pthread_create(&thread, attributes, detachedRoutine, work) == 0, let thread else { return false }
            pthread_detach(thread)
            return true
        }

        /// Runs a thread to its end. False if the system has none to give.
        static func runThread(_ attributes: UnsafePointer<pthread_attr_t>, _ work: UnsafeMutableRawPointer) -> Bool {
            var thread: pthread_t?
            guard pthread_create(&thread, attributes, routine, work) == 0, let thread else { return false }
            pthread_join(thread, nil)
            return true
        }
    }
#endif
