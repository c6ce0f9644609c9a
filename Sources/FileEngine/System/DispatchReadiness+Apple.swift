#if canImport(Darwin)
    import PrefsPropertyLists

    /// On Apple platforms, Dispatch needs no descriptors.
    final class DispatchDescriptors: Sendable {
        static let areNeeded = false

        init() throws(StorageFailure) {}

        func release() {}
    }
#endif
