#if os(Linux) || os(Android)
    import PrefsFileEngine

    extension ProcessContext {
        /// Runs the closure with the configuration folder of the environment.
        func withConfigurationFolder<R>(_ body: () -> R) -> R {
            guard let variables else { return body() }
            let folder = ConfigurationFolder.path(of: { variables[$0] })
            return ConfigurationFolder.withPath(folder, body)
        }
    }
#endif
