import PersistentPreferences

extension SettingsFile {
    /// Saves the values, unless the file contains them already. They are on disk when it returns true. Unknown fields of
    /// the file are preserved. ``trySave()`` throws the error.
    @discardableResult
    public func save() -> Bool { reports { try trySave() } }

    /// Saves the values, as ``save()`` does.
    ///
    /// - Throws: ``PrefsError``; then the file is unchanged.
    public func trySave() throws { try SettingsStorage(of: self).save(self) }

    /// ``save()`` under its name in `SettingsManageable`, for programs that follow it.
    @discardableResult
    public func update() -> Bool { save() }

    /// Loads the values; if there is no file, creates it with the values in memory. `tryLoad()` throws the error.
    @discardableResult
    public mutating func load() -> Bool { copies { try $0.load($1) } }

    /// Loads the values, as `load()` does.
    ///
    /// - Throws: ``PrefsError``; then the value is unchanged, with two exceptions. If the file is malformed, the last
    ///   known values are copied, and the error says which. If `copyValues(from:)` omits a property, the other
    ///   properties are copied.
    public mutating func tryLoad() throws { try copy { try $0.load($1) } }

    /// Loads the values; if there is no file, takes the initial values from the property list of the same name in
    /// ``settingsBundle``, and creates the file in its format.
    @discardableResult
    public mutating func loadUsingSettingsFile() -> Bool { copies { try $0.load($1, fromBundle: true) } }

    /// Removes the file; quarantines one that is malformed or has values of another type. False if there is none. The
    /// initial values beside it stay.
    @discardableResult
    public func delete() -> Bool { reports { try SettingsStorage(of: self).delete(self) } }

    /// Restores the initial values, in memory and in the file: those of ``settingsBundle``; if its property list is
    /// missing, ``initialSettings``; if the type does not implement these, the values with which a load created the
    /// file. Removes unknown fields of the file, and quarantines a file that is malformed or has values of another type.
    @discardableResult
    public mutating func reset() -> Bool { copies { (try $0.reset($1), nil) } }

    /// Returns the contents of the file as property-list objects, an encoded nil as nil; nil if the file is missing or
    /// unreadable.
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
        try object.copy { try $0.load($1) }
    }

    /// Loads the values into this instance, or creates the file.
    @discardableResult
    public func load() -> Bool {
        var object = self
        return object.copies { try $0.load($1) }
    }

    /// Loads the values into this instance, or creates the file with those of the bundle.
    @discardableResult
    public func loadUsingSettingsFile() -> Bool {
        var object = self
        return object.copies { try $0.load($1, fromBundle: true) }
    }

    /// Restores the initial values, in this instance and in the file.
    @discardableResult
    public func reset() -> Bool {
        var object = self
        return object.copies { (try $0.reset($1), nil) }
    }
}

extension SettingsFile {
    fileprivate mutating func copy(_ load: SettingsStorage<Self>.Load) throws {
        let storage = try SettingsStorage(of: self)
        let loaded = try load(storage, self)
        try storage.give(loaded, to: &self)
    }

    fileprivate mutating func copies(_ load: SettingsStorage<Self>.Load) -> Bool {
        let failure = failure { try copy(load) }
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
