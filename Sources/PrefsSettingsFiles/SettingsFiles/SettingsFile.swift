public import Foundation
public import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// A Codable type that saves, loads and resets itself in its own file, a property list or JSON.
///
/// ```swift
/// import PrefsSettingsFiles
///
/// struct PlayerSettings: SettingsFile {
///     var volume = 0.8
///     static var initialSettings: PlayerSettings { PlayerSettings() }
/// }
///
/// var settings = PlayerSettings()
/// settings.load()  // the values of the file; creates it if it is missing
/// settings.volume = 0.5
/// settings.update()  // on disk when it returns true
/// settings.reset()  // the initial values, in memory and in the file
/// ```
///
/// Structs, classes and enums may conform. A class implements `take(_:)`. Each method returns whether it succeeded;
/// ``tryUpdate()`` and `tryLoad()` throw a ``PrefsError`` instead. <doc:SettingsFiles> has samples, and says what
/// happens to fields and to damaged files. Follows `SettingsManageable`.
///
/// ## Behavior
/// A save is atomic and durable, and the last save wins as a whole. It preserves unknown fields and quarantines a
/// damaged file. It is rejected if the file has values of another type, or if it is malformed and this package has not
/// written it; `reset()` and `delete()` quarantine such a file. A load never changes an existing file, and creates a
/// missing one.
///
/// A field that the file lacks takes its initial value. Inside arrays and dictionaries, a missing field is an error. So
/// is a field of another type. Values are stored as ``PrefCoding`` describes for Codable types. XML rounds dates to the
/// second.
///
/// ## Performance
/// A load validates the file and decodes it. A save encodes the value, decodes the file and, if they differ, replaces
/// the file with two flushes.
///
/// ## Errors
/// A load that fails leaves the value unchanged, except for a damaged file and for a `take(_:)` that omits a property.
/// A method that returns false calls ``settingsDidFail(_:)`` first, which prints the error.
///
/// ## Threads
/// The value belongs to its owner's thread or actor. Any thread may use the files.
public protocol SettingsFile: Codable {
    /// The location of the file. By default `TYPE.plist`, or `TYPE.json` if ``settingsFormat`` is JSON, in a folder
    /// with the program's name: in `$XDG_CONFIG_HOME` or `~/.config` on Linux, in Application Support on Apple
    /// platforms. Types with the same name, for example types inside of several types or modules, would share a file,
    /// so give each its own location.
    func settingsURL() -> URL

    /// The format of a new file; binary by default. An existing file keeps its format. JSON is read only if this is
    /// JSON.
    static var settingsFormat: FileFormat { get }

    /// The initial values. Implement it so that `reset()` works even if the program saves before it loads. By default
    /// it throws, and the load that creates the file keeps its values as `….plist.init` beside it.
    static var initialSettings: Self { get throws }

    /// The bundle whose property list of the same name has the initial values; the main bundle by default.
    static var settingsBundle: Bundle { get }

    /// Takes over loaded values. By default it replaces a struct or an enum. A class assigns each property, so that
    /// loading changes the instance that other code holds. If it omits a property, the load fails. Do not save inside
    /// it.
    mutating func take(_ loaded: Self)

    /// Called with the error when a method returns false, before it returns. By default it writes one line to standard
    /// error, without stored values.
    func settingsDidFail(_ error: PrefsError)

    /// Saves the values. They are on disk when it returns true. ``tryUpdate()`` throws the error.
    @discardableResult
    func update() -> Bool

    /// Loads the values; if there is no file, creates it with the values in memory. `tryLoad()` throws the error.
    @discardableResult
    mutating func load() -> Bool

    /// Loads the values; if there is no file, takes the initial values from the property list of the same name in
    /// ``settingsBundle``, and creates the file in its format.
    @discardableResult
    mutating func loadUsingSettingsFile() -> Bool

    /// Removes the file; quarantines one that is malformed or has values of another type. False if there is none. The
    /// initial values beside it stay.
    @discardableResult
    func delete() -> Bool

    /// Restores the initial values, in memory and in the file: those of ``settingsBundle``; if its property list is
    /// missing, ``initialSettings``; if the type does not implement these, the values with which a load created the
    /// file. Removes unknown fields of the file, and quarantines a file that is malformed or has values of another type.
    @discardableResult
    mutating func reset() -> Bool

    /// Returns the contents of the file as property-list objects, an encoded nil as nil; nil if the file is missing or
    /// unreadable.
    func toDictionary() -> [String: Any?]?
}

extension SettingsFile {
    /// `TYPE.plist`, or `TYPE.json`, in a folder of the program's name; see ``SettingsFile``.
    public func settingsURL() -> URL {
        guard let folder = try? ConfigurationFolder.path.get(), let program = try? ConfigurationFolder.program.get()
        else { return SettingsLocation.withoutHome }
        // Characters that lead elsewhere, or that a file name cannot hold, become %XX.
        let name = "\(type(of: self))".unicodeScalars.map { scalar in
            let isSafe =
                !scalar.isASCII || scalar.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains(scalar)
            return isSafe ? String(scalar) : "%" + String(scalar.value, radix: 16, uppercase: true)
        }
        let file = name.joined() + "." + type(of: self).settingsFormat.coder.fileExtension
        return URL(filePath: "\(folder)/\(program)/\(file)", directoryHint: .notDirectory)
    }

    /// Binary.
    public static var settingsFormat: FileFormat { .binary }

    /// The main bundle.
    public static var settingsBundle: Bundle { .main }

    /// Throws: the type does not state its initial values.
    public static var initialSettings: Self { get throws { throw UnstatedInitialSettings() } }

    /// Replaces the value.
    public mutating func take(_ loaded: Self) { self = loaded }

    /// Writes one line to standard error, without stored values.
    public func settingsDidFail(_ error: PrefsError) {
        try? FileHandle.standardError.write(contentsOf: Data("\(ShownText.line("\(error)"))\n".utf8))
    }
}

extension SettingsFile where Self: AnyObject {
    /// Unavailable: a class must implement it.
    @available(*, unavailable, message: "a class copies the loaded values: func take(_ loaded: …) { a = loaded.a … }")
    public func take(_ loaded: Self) { fatalError("a class has to implement take(_:)") }
}

/// The error that ``SettingsFile/initialSettings`` throws by default.
struct UnstatedInitialSettings: Error {}

enum SettingsLocation {
    /// Stands for the default location if the home folder or the name of the program is unknown. Not a file URL, so that
    /// every access fails.
    static var withoutHome: URL { URL(string: "missing-home:") ?? URL(filePath: "/") }
}
