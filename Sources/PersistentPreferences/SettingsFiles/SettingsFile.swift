public import Foundation
import PrefsPropertyLists

/// A Codable type that saves, loads and resets itself in its own property-list file.
///
/// ```swift
/// struct PlayerSettings: SettingsFile {
///     var volume = 0.8
///     var skills = ["jump"]
/// }
///
/// var settings = PlayerSettings()
/// settings.load()  // the values of the file; creates it with the initial values if it is missing
/// settings.volume = 0.5
/// settings.save()
/// settings.reset()  // the initial values, in memory and in the file
/// ```
///
/// Structs, classes and enums may conform. Each method returns whether it succeeded, and has a variant that throws a
/// ``SettingsFileError``: `save()` and `trySave()`. A class implements `take(_:)`, so that loading changes the instance that
/// others hold:
///
/// ```swift
/// final class AppSettings: SettingsFile {
///     @MainActor static let shared = AppSettings()
///     var username = "anonymous"
///
///     func take(_ loaded: AppSettings) { username = loaded.username }
/// }
/// AppSettings.shared.load()
/// ```
///
/// Follows `SettingsManageable`.
///
/// ## Behavior
/// - A save is atomic and durable. If several processes save, the last save wins as a whole. For many keys that change one by
///   one, use ``PersistentPrefs``.
/// - A load never changes an existing file. A field that the file lacks takes its initial value; an optional reads as nil. Inside
///   arrays and dictionaries a missing field is an error. A field of another type is an error that names it, and so is an unknown
///   field whose name resembles that of a missing one. Other unknown fields are dropped by the next save.
/// - A save quarantines a damaged file, keeps values of another type beside the new file, and rejects a file that this package
///   has not written.
/// - Values are stored as ``PrefCoding`` describes for Codable types, in a binary or XML property list. XML rounds dates to the
///   second.
///
/// ## Performance
/// A load validates the file and decodes it. A save encodes the value, decodes the file and, if they differ, replaces the file
/// with two flushes.
///
/// ## Errors
/// A load that fails leaves the value unchanged. If the file is damaged, the newest known values are taken over, and the error
/// says so.
///
/// ## Threads
/// The value belongs to its owner's thread or actor. Any thread may use the files.
public protocol SettingsFile: Codable {
    /// The location of the file. By default `TYPE.plist` in a folder with the program's name: in `$XDG_CONFIG_HOME` or `~/.config` on
    /// Linux, in Application Support on Apple platforms. Types with the same name, for example private ones or those of several
    /// modules, would share a file: give each its own.
    func settingsURL() -> URL

    /// The format of a new file; binary by default. An existing file keeps its format.
    static var settingsFormat: PropertyListFormat { get }

    /// Takes over loaded values. By default it replaces a struct or an enum. A class assigns each property, so that it stays the
    /// instance that others hold; if it omits one, the load fails. Do not save inside it.
    mutating func take(_ loaded: Self)
}

extension SettingsFile {
    /// `TYPE.plist` in a folder of the program's name; see ``SettingsFile``.
    public func settingsURL() -> URL { SettingsFileName.url(of: type(of: self)) }

    /// Binary.
    public static var settingsFormat: PropertyListFormat { .binary }

    /// Replaces the value.
    public mutating func take(_ loaded: Self) { self = loaded }
}

extension SettingsFile where Self: AnyObject {
    /// A class must implement it.
    @available(*, unavailable, message: "a class copies the loaded values: func take(_ loaded: …) { a = loaded.a … }")
    public func take(_ loaded: Self) { fatalError("a class has to implement take(_:)") }
}
