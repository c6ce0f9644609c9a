public import Foundation

/// The methods of a settings file that throw an error with what failed and where.
extension SettingsFile {
    /// Saves all values, unless the file contains them already. The first save also stores the initial values as `….plist.init` beside
    /// the file.
    ///
    /// - Throws: ``SettingsFileError``; then the file is unchanged.
    public func trySave() throws {
        try SettingsStorage(of: self).save(self)
    }

    /// Loads the values; if there is no file, saves the initial ones.
    ///
    /// - Throws: ``SettingsFileError``; then the value is unchanged. If the file is malformed, the newest known values are taken over,
    ///   and ``SettingsFileError/storage(_:)`` says which.
    public mutating func tryLoad() throws {
        let (loaded, failure) = try SettingsStorage(of: self).load(self)
        if let loaded { take(loaded) }
        if let failure { throw failure }
    }

    /// Loads the values; if there is no file, takes the initial values from a property list of the same name in the bundle, and creates
    /// the file in its format.
    ///
    /// - Throws: ``SettingsFileError``: ``SettingsFileError/missing(path:)`` if both are missing; otherwise as `tryLoad()`.
    public mutating func tryLoadUsingSettingsFile(in bundle: Bundle = .main) throws {
        let (loaded, failure) = try SettingsStorage(of: self).load(self, from: bundle)
        if let loaded { take(loaded) }
        if let failure { throw failure }
    }

    /// Removes the file. The initial values beside it stay.
    ///
    /// - Throws: ``SettingsFileError``: ``SettingsFileError/missing(path:)`` if there is no file.
    public func tryDelete() throws {
        try SettingsStorage(of: self).delete()
    }

    /// Restores the initial values, in memory and in the file: those of the bundle's property list, or those of the first save if
    /// the bundle has none.
    ///
    /// - Throws: ``SettingsFileError``: ``SettingsFileError/missing(path:)`` if there are no initial values. Then nothing has changed.
    public mutating func tryReset(in bundle: Bundle = .main) throws {
        take(try SettingsStorage(of: self).reset(self, from: bundle))
    }

    /// Returns the contents of the file as property-list objects. An encoded nil is nil.
    ///
    /// - Throws: ``SettingsFileError``: ``SettingsFileError/missing(path:)`` if there is no file.
    public func tryToDictionary() throws -> [String: Any?] {
        try SettingsStorage(of: self).dictionary()
    }

    /// Saves a dictionary as the file and takes over its values. A missing field takes its initial value.
    ///
    /// - Throws: ``SettingsFileError`` if a field is of another type or unknown. Then nothing has changed.
    public mutating func tryFromDictionary(_ dictionary: [String: Any?]) throws {
        take(try SettingsStorage(of: self).save(dictionary, initial: self))
    }
}

/// The same for classes, whose instances may be constants.
extension SettingsFile where Self: AnyObject {
    /// Loads the values into this instance.
    public func tryLoad() throws {
        let (loaded, failure) = try SettingsStorage(of: self).load(self)
        if let loaded { try giveBack(loaded) }
        if let failure { throw failure }
    }

    /// Loads the values into this instance; if there is no file, from the bundle's property list.
    public func tryLoadUsingSettingsFile(in bundle: Bundle = .main) throws {
        let (loaded, failure) = try SettingsStorage(of: self).load(self, from: bundle)
        if let loaded { try giveBack(loaded) }
        if let failure { throw failure }
    }

    /// Restores the initial values, in this instance and in the file.
    public func tryReset(in bundle: Bundle = .main) throws {
        try giveBack(SettingsStorage(of: self).reset(self, from: bundle))
    }

    /// Saves a dictionary as the file and takes over its values into this instance.
    public func tryFromDictionary(_ dictionary: [String: Any?]) throws {
        try giveBack(SettingsStorage(of: self).save(dictionary, initial: self))
    }

    /// Calls the requirement, which is the implementation of the class.
    private func giveBack(_ loaded: Self) throws {
        func give<Settings: SettingsFile>(_ loaded: Settings, to settings: inout Settings) { settings.take(loaded) }
        var settings = self
        give(loaded, to: &settings)
        try SettingsStorage(of: self).check(self, hasTaken: loaded)
    }
}
