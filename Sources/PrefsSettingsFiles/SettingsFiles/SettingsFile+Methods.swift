import PersistentPreferences

extension SettingsFile {
    /// Saves all values, unless the file contains them already. Unknown fields of the file are preserved.
    ///
    /// - Throws: ``PrefsError``; then the file is unchanged.
    public func tryUpdate() throws { try SettingsStorage(of: self).save(self) }

    /// Loads the values; if there is no file, creates it with the values in memory.
    ///
    /// - Throws: ``PrefsError``; then the value is unchanged, with two exceptions. If the file is malformed, the last
    ///   known values are taken over, and the error says which. If `take(_:)` omits a property, the other properties
    ///   are taken over.
    public mutating func tryLoad() throws { try take { try $0.load($1) } }

    /// Saves the values. ``tryUpdate()`` throws the error.
    @discardableResult
    public func update() -> Bool { reports { try tryUpdate() } }

    /// Loads the values, or creates the file. `tryLoad()` throws the error.
    @discardableResult
    public mutating func load() -> Bool { takes { try $0.load($1) } }

    /// Loads the values, or creates the file with those of the bundle.
    @discardableResult
    public mutating func loadUsingSettingsFile() -> Bool { takes { try $0.load($1, fromBundle: true) } }

    /// Removes the file.
    @discardableResult
    public func delete() -> Bool { reports { try SettingsStorage(of: self).delete(self) } }

    /// Restores the initial values.
    @discardableResult
    public mutating func reset() -> Bool { takes { (try $0.reset($1), nil) } }

    /// Returns the contents of the file.
    public func toDictionary() -> [String: Any?]? {
        var contents: [String: Any?]?
        _ = reports { contents = try SettingsStorage(of: self).dictionary() }
        return contents
    }
}

/// The nonmutating methods of classes, whose instances may be constants.
extension SettingsFile where Self: AnyObject {
    /// Loads the values into this instance; see ``SettingsFile``.
    public func tryLoad() throws {
        var object = self
        try object.take { try $0.load($1) }
    }

    /// Loads the values into this instance, or creates the file.
    @discardableResult
    public func load() -> Bool {
        var object = self
        return object.takes { try $0.load($1) }
    }

    /// Loads the values into this instance, or creates the file with those of the bundle.
    @discardableResult
    public func loadUsingSettingsFile() -> Bool {
        var object = self
        return object.takes { try $0.load($1, fromBundle: true) }
    }

    /// Restores the initial values, in this instance and in the file.
    @discardableResult
    public func reset() -> Bool {
        var object = self
        return object.takes { (try $0.reset($1), nil) }
    }
}

extension SettingsFile {
    fileprivate mutating func take(_ load: SettingsStorage<Self>.Load) throws {
        let storage = try SettingsStorage(of: self)
        let loaded = try load(storage, self)
        try storage.give(loaded, to: &self)
    }

    fileprivate mutating func takes(_ load: SettingsStorage<Self>.Load) -> Bool {
        let failure = failure { try take(load) }
        return succeeded(failure)
    }

    fileprivate func reports(_ body: () throws -> Void) -> Bool {
        succeeded(failure(body))
    }

    private func succeeded(_ failure: PrefsError?) -> Bool {
        if let failure { settingsDidFail(failure) }
        return failure == nil
    }
}

private func failure(_ body: () throws -> Void) -> PrefsError? {
    do {
        try body()
        return nil
    } catch {
        return PrefsError(error)
    }
}
