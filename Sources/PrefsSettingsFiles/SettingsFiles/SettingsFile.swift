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
/// settings.save()  // on disk when it returns true
/// settings.reset()  // the initial values, in memory and in the file
/// ```
///
/// Structs, classes and enums may conform. A class implements `copyValues(from:)`. No type implements the methods that save,
/// load and remove: generic code would not call them. Each returns whether it succeeded; ``trySave()`` and `tryLoad()`
/// throw a ``PrefsError`` instead. <doc:SettingsFiles> has samples, and says what happens to fields and to damaged files.
/// Follows `SettingsManageable`.
///
/// ## Behavior
/// A save is atomic and durable, and the last save wins as a whole. It preserves unknown fields and quarantines a
/// damaged file. It is rejected if the file has values of another type, if a person has made a mistake in JSON or XML, or
/// if the file is malformed and this package has not written it; `reset()` and `delete()` quarantine such a file. A load never changes an existing file, and creates a
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
/// A load that fails leaves the value unchanged, except for a damaged file and for a `copyValues(from:)` that omits a
/// property. A method that returns false calls ``settingsDidFail(_:)`` first, which prints the error.
///
/// ## Threads
/// The value belongs to its owner's thread or actor. Any thread may use the files.
public protocol SettingsFile: Codable, _SettingsURLSpellings, _SettingsURLOfInstance {
    /// The location of the file. By default `TYPE.plist`, or `TYPE.json` if ``settingsFormat`` is JSON, in a folder
    /// with the program's name: in `$XDG_CONFIG_HOME` or `~/.config` on Linux, in Application Support on Apple
    /// platforms. Types with the same name, for example types inside of several types or modules, would share a file,
    /// so give each its own location.
    ///
    /// A type may also implement it as a member of an instance, or as a method `settingsURL()`, as in `SettingsManageable`.
    /// Code that knows only the protocol calls this method of the instance, which returns the location in each case.
    static var settingsURL: URL { get }

    /// The format of a new file; binary by default. An existing file keeps its format. JSON is read only if this is
    /// JSON.
    static var settingsFormat: FileFormat { get }

    /// The initial values. Implement it so that `reset()` works even if the program saves before it loads. By default
    /// it throws, and the load that creates the file keeps its values as `….plist.init` beside it.
    static var initialSettings: Self { get throws }

    /// The bundle whose property list of the same name has the initial values; the main bundle by default.
    static var settingsBundle: Bundle { get }

    /// Copies loaded values into this value. By default it replaces a struct or an enum. A class assigns each property,
    /// so that loading changes the instance that other code holds. If it omits a property, the load fails. Do not save
    /// inside it.
    mutating func copyValues(from loaded: Self)

    /// Called with the error when a method returns false, before it returns. By default it writes one line to standard
    /// error, without stored values.
    func settingsDidFail(_ error: PrefsError)
}

extension SettingsFile {
    /// `TYPE.plist`, or `TYPE.json`, in a folder of the program's name; see ``SettingsFile``.
    public static var settingsURL: URL {
        guard let folder = try? ConfigurationFolder.path.get(), let program = try? ConfigurationFolder.program.get()
        else { return SettingsLocation.withoutHome }
        // Characters that lead elsewhere, or that a file name cannot hold, become %XX.
        let name = "\(self)".unicodeScalars.map { scalar in
            let isSafe =
                !scalar.isASCII || scalar.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains(scalar)
            return isSafe ? String(scalar) : "%" + String(scalar.value, radix: 16, uppercase: true)
        }
        let file = name.joined() + "." + settingsFormat.coder.fileExtension
        return URL(filePath: "\(folder)/\(program)/\(file)", directoryHint: .notDirectory)
    }

    /// Binary.
    public static var settingsFormat: FileFormat { .binary }

    /// The main bundle.
    public static var settingsBundle: Bundle { .main }

    /// Throws: the type does not state its initial values.
    public static var initialSettings: Self { get throws { throw UnstatedInitialSettings() } }

    /// Replaces the value.
    public mutating func copyValues(from loaded: Self) { self = loaded }

    /// Writes one line to standard error, without stored values.
    public func settingsDidFail(_ error: PrefsError) {
        try? FileHandle.standardError.write(contentsOf: Data("\(ShownText.line("\(error)"))\n".utf8))
    }
}

extension SettingsFile where Self: AnyObject {
    /// Unavailable: a class must implement it.
    @available(
        *, unavailable, message: "a class copies the values: func copyValues(from loaded: …) { a = loaded.a … }"
    )
    public func copyValues(from loaded: Self) { fatalError("a class has to implement copyValues(from:)") }
}

/// The other spellings of `SettingsFile.settingsURL`. They are requirements, too, because the compiler accepts them in
/// every type: without them, it would ignore such a member, and the values would go to the default file.
///
/// Hidden: the documentation names `settingsURL` alone.
public protocol _SettingsURLSpellings {
    /// The location of the file, as a method of an instance. The library asks for this one. `SettingsManageable` has it.
    func settingsURL() -> URL

    /// The location of the file, as a static method.
    static func settingsURL() -> URL
}

extension _SettingsURLSpellings where Self: SettingsFile {
    /// What the type implements as another member. Disfavored, so that `T.settingsURL` without a call is the property.
    @_disfavoredOverload public func settingsURL() -> URL { (self as any _SettingsURLOfInstance).settingsURL }

    /// What the type implements as a static property.
    @_disfavoredOverload public static func settingsURL() -> URL { settingsURL }
}

/// Hidden: the spelling of `SettingsFile.settingsURL` as a property of an instance, beside the method of this name.
public protocol _SettingsURLOfInstance {
    /// The location of the file, as a property of an instance.
    var settingsURL: URL { get }
}

extension _SettingsURLOfInstance where Self: SettingsFile {
    /// What the type implements as a static member.
    @_disfavoredOverload public var settingsURL: URL { type(of: self).settingsURL() }
}

/// The error that ``SettingsFile/initialSettings`` throws by default.
struct UnstatedInitialSettings: Error {}

enum SettingsLocation {
    /// Stands for the default location if the home folder or the name of the program is unknown. Not a file URL, so that
    /// every access fails.
    static var withoutHome: URL { URL(string: "missing-home:") ?? URL(filePath: "/") }
}
