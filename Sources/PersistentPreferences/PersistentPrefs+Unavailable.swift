/// Names of RVS_PersistentPrefs and of `UserDefaults` that people try first: compiler errors that say what to write.
///
/// In the protocol of ``Prefs``, and not in the class, because RVS_PersistentPrefs declares some of them.
extension PrefsSet {
    /// Unavailable.
    @available(*, unavailable, renamed: "allowedKeys", message: "the keys of what is stored are values.keys")
    public var keys: [String] { fatalError("unavailable") }

    /// Unavailable.
    @available(*, unavailable, message: "the number of stored values is values.count")
    public var count: Int { fatalError("unavailable") }

    /// Unavailable.
    @available(*, unavailable, message: "reads are current, and each write is complete when it returns")
    public func flush() { fatalError("unavailable") }

    /// Unavailable.
    @available(*, unavailable, message: "reads are current, and each write is complete when it returns")
    public func synchronize() -> Bool { fatalError("unavailable") }

    /// Unavailable.
    @available(*, unavailable, renamed: "resetAll()")
    public func clear() { fatalError("unavailable") }

    /// Unavailable.
    @available(*, unavailable, renamed: "deleteRoot()")
    public func deleteAll() { fatalError("unavailable") }

    /// Unavailable.
    @available(*, unavailable, renamed: "reset(_:_:)")
    public func remove(_ keys: String...) { fatalError("unavailable") }

    /// Unavailable.
    @available(*, unavailable, renamed: "reset(_:_:)")
    public func removeObject(forKey key: String) { fatalError("unavailable") }

    /// Unavailable.
    @available(*, unavailable, message: "assign the property, or prefs[\"key\"]")
    public func set(_ value: Any?, forKey key: String) { fatalError("unavailable") }
}

extension PrefOption {
    /// Unavailable.
    @available(*, unavailable, message: "a constraint is an option itself: @Pref(.in(1...9))")
    public static func constraint(_ constraint: PrefOption) -> PrefOption { fatalError("unavailable") }
}
