public import Foundation

/// What a settings file does, as in the seed: each returns whether it succeeded, and its twin (`trySave()` …) says why not.
extension SettingsFile {
    /// Saves the values: on disk when it returns true. ``trySave()`` says why not.
    @discardableResult
    public func save() -> Bool { succeeds { try trySave() } }

    /// The seed's name of ``save()``.
    @discardableResult
    public func update() -> Bool { save() }

    /// Loads the values; if there is no file, saves the initial ones. `tryLoad()` says why not.
    @discardableResult
    public mutating func load() -> Bool { succeeds { try tryLoad() } }

    /// Loads the values, at first from the bundle's property list. `tryLoadUsingSettingsFile(in:)` says why not.
    @discardableResult
    public mutating func loadUsingSettingsFile(in bundle: Bundle = .main) -> Bool {
        succeeds { try tryLoadUsingSettingsFile(in: bundle) }
    }

    /// Removes the file. ``tryDelete()`` says why not.
    @discardableResult
    public func delete() -> Bool { succeeds { try tryDelete() } }

    /// Brings back the initial values, in the file and here. `tryReset(in:)` says why not.
    @discardableResult
    public mutating func reset(in bundle: Bundle = .main) -> Bool { succeeds { try tryReset(in: bundle) } }

    /// The contents of the file; nil if it is missing or cannot be read. ``tryToDictionary()`` says why not.
    public func toDictionary() -> [String: Any?]? { try? tryToDictionary() }

    /// Saves a dictionary as the file, and takes its values over. `tryFromDictionary(_:)` says why not.
    @discardableResult
    public mutating func fromDictionary(_ dictionary: [String: Any?]) -> Bool {
        succeeds { try tryFromDictionary(dictionary) }
    }
}

/// The same for classes, whose instances need not stand in a variable.
extension SettingsFile where Self: AnyObject {
    /// Loads the values into this instance.
    @discardableResult
    public func load() -> Bool { succeeds { try tryLoad() } }

    /// Loads the values into this instance, at first from the bundle's property list.
    @discardableResult
    public func loadUsingSettingsFile(in bundle: Bundle = .main) -> Bool {
        succeeds { try tryLoadUsingSettingsFile(in: bundle) }
    }

    /// Brings back the initial values, in the file and in this instance.
    @discardableResult
    public func reset(in bundle: Bundle = .main) -> Bool { succeeds { try tryReset(in: bundle) } }

    /// Saves a dictionary as the file, and takes its values over into this instance.
    @discardableResult
    public func fromDictionary(_ dictionary: [String: Any?]) -> Bool {
        succeeds { try tryFromDictionary(dictionary) }
    }
}

private func succeeds(_ body: () throws -> Void) -> Bool {
    (try? body()) != nil
}
