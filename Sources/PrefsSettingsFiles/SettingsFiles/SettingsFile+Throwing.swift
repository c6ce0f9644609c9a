public import Foundation
import PersistentPreferences

/// The methods of a settings file that throw an error with what failed and where.
extension SettingsFile {
    /// Saves all values, unless the file contains them already. Unknown fields of the file are preserved.
    ///
    /// - Throws: ``SettingsFileError``; then the file is unchanged. ``SettingsFileError/field(path:failure:)`` if
    ///   `take(_:)` of this object has omitted a property.
    public func trySave() throws {
        try SettingsStorage(of: self).save(self)
    }

    /// Loads the values; if there is no file, saves the initial ones.
    ///
    /// - Throws: ``SettingsFileError``; then the value is unchanged, with two exceptions. If the file is malformed, the
    ///   last known values are taken over, and ``SettingsFileError/storage(_:)`` says which. If `take(_:)` omits a
    ///   property, the other properties are taken over.
    public mutating func tryLoad() throws {
        let storage = try SettingsStorage(of: self)
        try storage.give(storage.load(self), to: &self)
    }

    /// Loads the values; if there is no file, takes the initial values from a property list of the same name in the
    /// bundle, and creates the file in its format.
    ///
    /// - Throws: ``SettingsFileError``: ``SettingsFileError/missing(path:)`` if both are missing; in other cases as
    ///   `tryLoad()`.
    public mutating func tryLoadUsingSettingsFile(in bundle: Bundle = .main) throws {
        let storage = try SettingsStorage(of: self)
        try storage.give(storage.load(self, from: bundle), to: &self)
    }

    /// Removes the file. The initial values beside it stay.
    ///
    /// - Throws: ``SettingsFileError``: ``SettingsFileError/missing(path:)`` if there is no file.
    public func tryDelete() throws {
        try SettingsStorage(of: self).delete()
    }

    /// Restores the initial values, in memory and in the file. They come from the bundle's property list; if it is
    /// missing, from ``SettingsFile/initialSettings``; if the type does not implement it, from the file that the first
    /// load created. Removes unknown fields of the file.
    ///
    /// - Throws: ``SettingsFileError``: ``SettingsFileError/missing(path:)`` if there are no initial values. Then
    ///   nothing has changed.
    public mutating func tryReset(in bundle: Bundle = .main) throws {
        let storage = try SettingsStorage(of: self)
        try storage.give((storage.reset(self, from: bundle), nil), to: &self)
    }

    /// Returns the contents of the file as property-list objects. An encoded nil is nil.
    ///
    /// - Throws: ``SettingsFileError``: ``SettingsFileError/missing(path:)`` if there is no file.
    public func tryToDictionary() throws -> [String: Any?] {
        try SettingsStorage(of: self).dictionary()
    }

    /// Saves a dictionary as the file and takes over its values. A missing field takes its initial value. Unknown
    /// fields of the file are preserved; the dictionary may contain these, but no other unknown fields.
    ///
    /// - Throws: ``SettingsFileError`` if a field is of another type or unknown. Then nothing has changed.
    public mutating func tryFromDictionary(_ dictionary: [String: Any?]) throws {
        let storage = try SettingsStorage(of: self)
        try storage.give((storage.save(dictionary, initial: self), nil), to: &self)
    }
}

/// The nonmutating methods of classes, whose instances may be constants.
extension SettingsFile where Self: AnyObject {
    /// Loads the values into this instance.
    public func tryLoad() throws {
        try take { try $0.load(self) }
    }

    /// Loads the values into this instance; if there is no file, from the bundle's property list.
    public func tryLoadUsingSettingsFile(in bundle: Bundle = .main) throws {
        try take { try $0.load(self, from: bundle) }
    }

    /// Restores the initial values, in this instance and in the file.
    public func tryReset(in bundle: Bundle = .main) throws {
        try take { (try $0.reset(self, from: bundle), nil) }
    }

    /// Saves a dictionary as the file and takes over its values into this instance.
    public func tryFromDictionary(_ dictionary: [String: Any?]) throws {
        try take { (try $0.save(dictionary, initial: self), nil) }
    }

    private func take(_ load: (SettingsStorage<Self>) throws -> SettingsStorage<Self>.Loaded) throws {
        let storage = try SettingsStorage(of: self)
        var settings = self
        try storage.give(load(storage), to: &settings)
    }
}
