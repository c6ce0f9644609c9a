public import Foundation
import PersistentPreferences

/// The methods of a settings file. Each returns whether it succeeded; its variant (`trySave()` …) throws the error.
extension SettingsFile {
    /// Saves the values. They are on disk when it returns true. ``trySave()`` throws the error.
    @discardableResult
    public func save() -> Bool { succeeds(self) { try trySave() } }

    /// Saves the values, like ``save()``. `SettingsManageable` has this name.
    @discardableResult
    public func update() -> Bool { save() }

    /// Loads the values; if there is no file, saves the initial ones. `tryLoad()` throws the error.
    @discardableResult
    public mutating func load() -> Bool { succeeds(&self) { try $0.tryLoad() } }

    /// Loads the values; if there is no file, from the main bundle's property list. `tryLoadUsingSettingsFile(in:)`
    /// throws the error.
    @discardableResult
    public mutating func loadUsingSettingsFile() -> Bool { loadUsingSettingsFile(in: .main) }

    /// Loads the values; if there is no file, from the bundle's property list. `tryLoadUsingSettingsFile(in:)` throws
    /// the error.
    @discardableResult
    public mutating func loadUsingSettingsFile(in bundle: Bundle) -> Bool {
        succeeds(&self) { try $0.tryLoadUsingSettingsFile(in: bundle) }
    }

    /// Removes the file. ``tryDelete()`` throws the error.
    @discardableResult
    public func delete() -> Bool { succeeds(self) { try tryDelete() } }

    /// Restores the initial values, in memory and in the file. `tryReset(in:)` throws the error.
    @discardableResult
    public mutating func reset() -> Bool { reset(in: .main) }

    /// Restores the initial values, in memory and in the file. `tryReset(in:)` throws the error.
    @discardableResult
    public mutating func reset(in bundle: Bundle) -> Bool { succeeds(&self) { try $0.tryReset(in: bundle) } }

    /// Returns the contents of the file, or nil if it is missing or unreadable. ``tryToDictionary()`` throws the error.
    public func toDictionary() -> [String: Any?]? {
        do {
            return try tryToDictionary()
        } catch SettingsFileError.missing {
            return nil
        } catch {
            settingsDidFail(SettingsFileError(error))
            return nil
        }
    }

    /// Saves a dictionary as the file and takes over its values. `tryFromDictionary(_:)` throws the error.
    @discardableResult
    public mutating func fromDictionary(_ dictionary: [String: Any?]) -> Bool {
        succeeds(&self) { try $0.tryFromDictionary(dictionary) }
    }
}

/// The nonmutating methods of classes, whose instances may be constants.
extension SettingsFile where Self: AnyObject {
    /// Loads the values into this instance.
    @discardableResult
    public func load() -> Bool { succeeds(self) { try tryLoad() } }

    /// Loads the values into this instance; if there is no file, from the main bundle's property list.
    @discardableResult
    public func loadUsingSettingsFile() -> Bool { loadUsingSettingsFile(in: .main) }

    /// Loads the values into this instance; if there is no file, from the bundle's property list.
    @discardableResult
    public func loadUsingSettingsFile(in bundle: Bundle) -> Bool {
        succeeds(self) { try tryLoadUsingSettingsFile(in: bundle) }
    }

    /// Restores the initial values, in this instance and in the file.
    @discardableResult
    public func reset() -> Bool { reset(in: .main) }

    /// Restores the initial values, in this instance and in the file.
    @discardableResult
    public func reset(in bundle: Bundle) -> Bool { succeeds(self) { try tryReset(in: bundle) } }

    /// Saves a dictionary as the file and takes over its values into this instance.
    @discardableResult
    public func fromDictionary(_ dictionary: [String: Any?]) -> Bool {
        succeeds(self) { try tryFromDictionary(dictionary) }
    }
}

private func succeeds<Settings: SettingsFile>(_ settings: Settings, _ body: () throws -> Void) -> Bool {
    do {
        try body()
        return true
    } catch {
        settings.settingsDidFail(SettingsFileError(error))
        return false
    }
}

private func succeeds<Settings: SettingsFile>(
    _ settings: inout Settings, _ body: (inout Settings) throws -> Void
) -> Bool {
    do {
        try body(&settings)
        return true
    } catch {
        settings.settingsDidFail(SettingsFileError(error))
        return false
    }
}
