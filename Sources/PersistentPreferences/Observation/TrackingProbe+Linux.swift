#if os(Linux) || os(Android)
    extension TrackingProbe {
        /// Whether the framework beside the program is one on which the probe was tested. A program runs with the libraries of
        /// the toolchain that has built it.
        static var isKnownToWork: Bool {
            #if compiler(>=6.3) && compiler(<6.4)
                true
            #else
                false
            #endif
        }
    }
#endif
