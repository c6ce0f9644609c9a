public import Foundation
import PrefsPropertyLists

/// A Codable type that saves, loads and resets itself: settings that are a value, in a property-list file of their own.
///
/// ```swift
/// struct PlayerSettings: SettingsFile {
///     var volume = 0.8
///     var skills = ["jump"]
/// }
///
/// var settings = PlayerSettings()
/// settings.load()          // the file's values; if there is no file, the initial ones are saved
/// settings.volume = 0.5
/// settings.save()
/// settings.reset()         // the initial values again, here and in the file
/// ```
///
/// Structs, classes and enums. Each method returns whether it succeeded, as in the seed, and has a twin that throws a
/// ``SettingsFileError`` instead: `save()` and `trySave()`.
///
/// - Saves are atomic and durable: killed at any instant, the file holds the old values or the new ones. Several
///   processes may save: the last one wins, whole.
/// - A load that fails leaves the value unchanged, except for a malformed file: then the newest known values are taken over, and
///   the error says which. No load changes a file. A save quarantines a damaged file beside the new one, keeps values of another
///   type there, and rejects a file that this package has not written.
/// - A field that the file lacks takes its initial value (an optional one reads nil; inside of arrays and dictionaries it is
///   an error). A field of another type is an error that names it, and so is an unknown field whose name differs from a missing one
///   by a typing error. A save drops other unknown fields.
/// - A class implements ``take(_:)``, so that loading changes the instance that everybody holds:
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
/// Values are stored as ``PrefCoding`` stores Codable ones, in a property list, binary or XML; other formats are not
/// supported. XML holds dates to the second. For many keys that change one by one, from several places, use
/// ``PersistentPrefs``: a settings file is read and written as a whole.
///
/// Cost: a load is one look at the file where it is unchanged, and a decoding; a save an encoding, a decoding of what is
/// there, and one replacement of the file, with two flushes, where something has changed. The value belongs to its
/// owner's thread or actor; files may be used from any. Follows `SettingsManageable` (seed 000).
public protocol SettingsFile: Codable {
    /// Where the file is. By default `TYPE.plist` in a folder of the program's name, in `$XDG_CONFIG_HOME` or `~/.config` on
    /// Linux, in Application Support on Apple platforms. Types of one name in several modules, and private and local
    /// ones, would share a file: give each its own.
    func settingsURL() -> URL

    /// The format of a file that has to be created; binary by default. A file that is there keeps its own.
    static var settingsFormat: PropertyListFormat { get }

    /// Takes over values that were loaded. A struct or an enum is replaced by default; a class assigns each property, so that
    /// it stays the instance that others hold. One that it leaves out is an error of the load. Do not save in it.
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
    /// A class has to say how.
    @available(*, unavailable, message: "a class takes over what was loaded: func take(_ loaded: …) { a = loaded.a … }")
    public func take(_ loaded: Self) { fatalError("a class has to implement take(_:)") }
}
