#if canImport(Darwin)
    /// What a write does to the permissions of a new file. These systems have no files without a name to try it on.
    enum WriteTrial {
        static func failure(ofFileAt path: String) -> String? { nil }
    }
#endif
