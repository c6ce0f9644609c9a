#if canImport(Darwin)
    extension FileSystem {
        /// `local`, because there are no overlays, and apps must declare a reason to Apple for the call that
        /// detects a server.
        init(of descriptor: Int32) { self = .local }

        /// Returns true for the same reason: a server is not detected.
        static func reportsChanges(inFolder path: String) -> Bool { true }
    }
#endif
