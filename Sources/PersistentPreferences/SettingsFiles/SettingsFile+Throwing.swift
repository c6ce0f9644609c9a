public import Foundation

/// What a settings file does, with an error that says what failed and where.
extension SettingsFile {
    /// Saves the values, all of them, unless the file has them already. The first save keeps the initial values, too, as
    /// `….plist.init` beside the file.
    ///
    /// - Throws: ``SettingsFileError``; the file is unchanged.
    public func trySave() throws {
        try SettingsStorage(of: self).save(self)
    }

    /// Loads the values; if there is no file, saves the initial ones.
    ///
    /// - Throws: ``SettingsFileError``; the value is unchanged, except for a malformed file: then the newest known values are
    ///   taken over, and ``SettingsFileError/storage(_:)`` says which.
    public mutating func tryLoad() throws {
        let (loaded, failure) = try SettingsStorage(of: self).load(self)
        if let loaded { take(loaded) }
        if let failure { throw failure }
    }

    /// The same, with the initial values from a property list that comes with the program, which has the file's name. It is
    /// read only if there is no file yet. The new file has its format.
    ///
    /// - Throws: ``SettingsFileError``, ``SettingsFileError/missing(path:)`` if there is neither; else as `tryLoad()`.
    public mutating func tryLoadUsingSettingsFile(in bundle: Bundle = .main) throws {
        let (loaded, failure) = try SettingsStorage(of: self).load(self, from: bundle)
        if let loaded { take(loaded) }
        if let failure { throw failure }
    }

    /// Removes the file. The initial values beside it stay.
    ///
    /// - Throws: ``SettingsFileError``, ``SettingsFileError/missing(path:)`` if there is none.
    public func tryDelete() throws {
        try SettingsStorage(of: self).delete()
    }

    /// Brings back the initial values, in the file and here: those of the bundle's property list if there is one, else
    /// those that were kept from the first save.
    ///
    /// - Throws: ``SettingsFileError``, ``SettingsFileError/missing(path:)`` if there are no initial values; nothing is
    ///   changed.
    public mutating func tryReset(in bundle: Bundle = .main) throws {
        take(try SettingsStorage(of: self).reset(self, from: bundle))
    }

    /// What is in the file, as objects of a property list; the value of an encoded nil is nil.
    ///
    /// - Throws: ``SettingsFileError``, ``SettingsFileError/missing(path:)`` if there is no file.
    public func tryToDictionary() throws -> [String: Any?] {
        try SettingsStorage(of: self).dictionary()
    }

    /// Saves a dictionary as the file, and takes its values over. A field that it lacks takes its initial value.
    ///
    /// - Throws: ``SettingsFileError`` if it has a field of another type, or one that the type does not know; nothing is changed.
    public mutating func tryFromDictionary(_ dictionary: [String: Any?]) throws {
        take(try SettingsStorage(of: self).save(dictionary, initial: self))
    }
}

/// The same for classes, whose instances need not stand in a variable.
extension SettingsFile where Self: AnyObject {
    /// Loads the values into this instance.
    public func tryLoad() throws {
        let (loaded, failure) = try SettingsStorage(of: self).load(self)
        if let loaded { try giveBack(loaded) }
        if let failure { throw failure }
    }

    /// Loads the values into this instance, at first from the bundle's property list.
    public func tryLoadUsingSettingsFile(in bundle: Bundle = .main) throws {
        let (loaded, failure) = try SettingsStorage(of: self).load(self, from: bundle)
        if let loaded { try giveBack(loaded) }
        if let failure { throw failure }
    }

    /// Brings back the initial values, in the file and in this instance.
    public func tryReset(in bundle: Bundle = .main) throws {
        try giveBack(SettingsStorage(of: self).reset(self, from: bundle))
    }

    /// Saves a dictionary as the file, and takes its values over into this instance.
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
