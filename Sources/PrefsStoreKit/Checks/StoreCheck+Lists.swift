extension StoreCheck {
    /// The rules of ``PrefsBackend/read(root:)`` and ``PrefsBackend/update(root:_:)``, which every backend follows.
    public static let all = values + transactions + nesting
    /// The rules of ``PrefsBackend/observe(root:_:)``, for backends that implement it.
    public static let observing = observation
    /// The rules of ``RemotePrefsBackend``, for backends that conform to it.
    public static let remote = remoteStores
}
