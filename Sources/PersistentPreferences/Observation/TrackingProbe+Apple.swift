#if canImport(Darwin)
    extension TrackingProbe {
        /// The framework belongs to the system, which may be newer than the program.
        static var isKnownToWork: Bool { false }
    }
#endif
