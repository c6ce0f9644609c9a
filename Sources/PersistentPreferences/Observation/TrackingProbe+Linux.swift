#if os(Linux) || os(Android)
    extension TrackingProbe {
        /// Whether the framework beside the program is one on which the probe was tested: a program runs with the libraries of
        /// the toolchain that has built it.
        #if compiler(>=6.2) && compiler(<6.4)
            static let isKnownToWork = true
        #else
            static let isKnownToWork = false
        #endif
    }
#endif
