#if os(Linux) || os(Android)
    import Foundation

    extension SystemCalls {
        static let stampingClock = CLOCK_REALTIME_COARSE

        static func synchronizeFully(_ descriptor: Descriptor) -> Int32 {
            fsync(descriptor)
        }
    }
#endif
