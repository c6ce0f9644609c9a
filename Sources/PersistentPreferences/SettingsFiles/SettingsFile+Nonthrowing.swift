public import Foundation

/// The methods of a settings file. Each returns whether it succeeded; its variant (`trySave()` …) throws the error.
extension SettingsFile {
    /// Saves the values. They are on disk when it returns true. ``trySave()`` throws the error.
    @discardableResult
    public func save() -> Bool { succeeds { try trySave() } }

    /// The same as ``save()``, with its name in `SettingsManageable`.
    @discardableResult
    public func update() -> Bool { save() }

    /// Loads the values; if there is no file, saves the initial ones. `tryLoad()` throws the error.
    @discardableResult
    public mutating func load() -> Bool { succeeds { try tryLoad() } }

    /// Loads the values; if there is no file, from the bundle's property list. `tryLoadUsingSettingsFile(in:)` throws the error.
    @discardableResult
    public mutating func loadUsingSettingsFile(in bundle: Bundle = .main) -> Bool {
        succeeds { try tryLoadUsingSettingsFile(in: bundle) }
    }

    /// Removes the file. ``tryDelete()`` throws the error.
    @discardableResult
    public func delete() -> Bool { succeeds { try tryDelete() } }

    /// Restores the initial values, in memory and in the file. `tryReset(in:)` throws the error.
    @discardableResult
    public mutating func reset(in bundle: Bundle = .main) -> Bool { succeeds { try tryReset(in: bundle) } }

    /// Returns the contents of the file, or nil if it is missing or unreadable. ``tryToDictionary()`` throws the error.
    public func toDictionary() -> [String: Any?]? { try? tryToDictionary() }

    /// Saves a dictionary as the file and takes over its values. `tryFromDictionary(_:)` throws the error.
    @discardableResult
    public mutating func fromDictionary(_ dictionary: [String: Any?]) -> Bool {
        succeeds { try tryFromDictionary(dictionary) }
    }
}

/// The same for classes, whose instances may be constants.
extension SettingsFile where Self: AnyObject {
    /// Loads the values into this instance.
    @discardableResult
    public func load() -> Bool { succeeds { try tryLoad() } }

    /// Loads the values into this instance; if there is no file, from the bundle's property list.
    @discardableResult
    public func loadUsingSettingsFile(in bundle: Bundle = .main) -> Bool {
        succeeds { try tryLoadUsingSettingsFile(in: bundle) }
    }

    /// Restores the initial values, in this instance and in the file.
    @discardableResult
    public func reset(in bundle: Bundle = .main) -> Bool { succeeds { try tryReset(in: bundle) } }

    /// Saves a dictionary as the file and takes over its values into this instance.
    @discardableResult
    public func fromDictionary(_ dictionary: [String: Any?]) -> Bool {
        succeeds { try tryFromDictionary(dictionary) }
    }
}

private func succeeds(_ body: () throws -> Void) -> Bool {
    (try? body()) != nil
}
