#if canImport(Darwin)
    extension ProcessContext {
        /// Runs the closure. The folder of settings does not depend on the environment here.
        func withConfigurationFolder<R>(_ body: () -> R) -> R { body() }
    }
#endif
