public import Foundation
import PersistentPreferences
import PrefsFileEngine
package import PrefsPropertyLists

/// A layer of values above or below the base of ``PrefsStore/layered(_:above:below:)``.
///
/// ```swift
/// import PrefsLayers
///
/// let store = PrefsStore.layered(
///     .userDefaults(), above: [.arguments(), .environment(prefix: "EDITOR_")], below: [.system("editor")])
/// ```
///
/// ## Behavior
/// The environment, the arguments and the files of a folder of secrets are *text*, which instances parse by the declared
/// type of each property. The other layers have values. An entry that does not fit its property is reported with
/// ``PrefsError/ignoredInLayer(_:)`` and ignored; the next layer is read instead. A root in a file that says which version it
/// has is migrated in memory, as the base is. The keys of all others are the current ones.
///
/// See <doc:Layers>.
public struct PrefsLayer: Sendable {
    /// The name in errors and in ``PrefSource/layer(_:)``: `environment`, `arguments`, `system`, `values`, `managed`,
    /// or the path of a file or a folder.
    public let name: String
    let source: Source

    enum Source: Sendable {
        case entries(LayerEntries)
        case file(LayerFile)
        case secrets(SecretsFolder)
    }

    init(_ name: String, _ source: Source) {
        self.name = name
        self.source = source
    }

    /// A layer that cannot be read, and why.
    init(name: String, broken reason: String) {
        self.init(name, .entries(.broken(reason)))
    }

    /// Returns this layer without files that are the file of the base.
    func withoutBase(_ target: String) -> PrefsLayer {
        guard case .file(let file) = source else { return self }
        return PrefsLayer(name, .file(file.withoutBase(target)))
    }

    var cycles: [PrefsProblem] {
        guard case .file(let file) = source else { return [] }
        return file.pathsToBase.map {
            PrefsProblem(layer: name, place: $0, reason: "the layer reads the file of the base")
        }
    }

    /// The variables of the environment: `EDITOR_FONT_SIZE` or `EDITOR_fontSize` for the key `fontSize`.
    ///
    /// The *derived* variable has the words of the key in upper case, with `_` between them: `HTTPPort` is `HTTP_PORT`,
    /// and `editor.fontSize` is `EDITOR_FONT_SIZE`. A word ends before an upper-case letter that follows a lower-case
    /// one, before the last letter of an acronym, and at each character that is not an ASCII letter or digit. A digit is
    /// like the letter before it: `utf8Name` is `UTF8_NAME`. In the *exact* variable, a character that is not an ASCII
    /// letter or digit becomes `_`, and all others stay. If both are set, the exact one counts.
    ///
    /// A field of a Codable struct has variables, too, if no key has their names: `EDITOR_SERVER_PORT` or `EDITOR_server_port`
    /// for the field `port` of the key `server`. The fields are those that the default of the property stores. The other fields
    /// keep the values of the layers below and of the stored value, and the whole value counts as set by this layer.
    ///
    /// A line feed at the end of the text (or a carriage return and a line feed) is dropped, once and for every type.
    /// If two keys of a class have one variable, neither gets it, and every access reports
    /// ``PrefsError/ignoredInLayer(_:)``. ``PersistentPrefs/problems()`` also names a variable that is ignored because the
    /// exact one is set, and, unless the prefix is empty, each variable with the prefix that no key has. The environment
    /// is read once, when the layer is made. A variable applies to every root. An empty variable is nil for an optional
    /// property, whatever the layers below have; for others it is an empty text: `""`, an empty list, and no number. The
    /// value of a variable of the process that is not UTF-8 is reported with ``PrefsError/ignoredInLayer(_:)`` and ignored.
    /// - Parameters:
    ///   - prefix: the beginning of the variables' names; it may be empty.
    ///   - variables: the environment, for tests; nil for that of the process.
    public static func environment(prefix: String, in variables: [String: String]? = nil) -> PrefsLayer {
        let source =
            variables.map { VariableSource(prefix: prefix, in: $0) }
            ?? VariableSource(
                prefix: prefix, in: ProcessInfo.processInfo.environment, isText: ProcessText.isText(variable:_:))
        return PrefsLayer("environment", .entries(.text(TextLayer(source))))
    }

    /// The arguments of the program: `--font-size 14` or `-fontSize 14` for the key `fontSize`. ``usage(of:)`` describes them.
    ///
    /// An *option* has the words of the key in lower case, with dashes: see ``environment(prefix:in:)``. Its value is
    /// the next argument, unless that begins with `--`, or follows an equals sign: `--font-size=14`. The option of a
    /// Bool takes no next argument: `--verbose` is true, `--no-verbose` is false, and `--verbose=false` is allowed. A
    /// key `noVerbose` wins over `--no-verbose`. If two keys of a class have one option, neither gets it, and every
    /// access reports ``PrefsError/ignoredInLayer(_:)``.
    ///
    /// `-fontSize 14` is the form of the argument domain of `UserDefaults`, also for a Bool: `-verbose YES`. The
    /// argument after `-key` is its value, even if it begins with dashes.
    ///
    /// An argument that names a key counts at every position, also as the value of another key.
    /// Arguments after `--` are ignored. The value is parsed by the type of the property and, unlike in `UserDefaults`,
    /// not read as an old-style property list. ``PersistentPrefs/problems()`` names arguments that resemble one of a
    /// key. A layer that is made after `PrefsTool.run` was called lacks the words of that command. A value in the
    /// arguments of the process that is not UTF-8 is reported with ``PrefsError/ignoredInLayer(_:)`` and ignored.
    ///
    /// *Short options* are letters that the program declares: `-p 5`, `-p5` and `-p=5` for `short: ["p": "port"]`, and `-v`
    /// for a Bool, also several in one word, `-vp5`. A word that is the value of another option is none, and an argument with
    /// the name of a key wins. ``PersistentPrefs/problems()`` names a letter that differs from a declared one in its case.
    ///
    /// An option that is repeated makes a list for an array or a set, in order: `--tags a --tags b`. Each text is read as a
    /// list, and the constraint holds for the whole. Of all other options, the last one counts.
    ///
    /// - Parameters:
    ///   - arguments: the name of the program and its arguments, for tests; nil for those of the process.
    ///   - short: the keys by their letters, which are ASCII letters or digits. Another letter is reported with
    ///     ``PrefsError/ignoredInLayer(_:)``, and the layer is then empty. A key that a class does not have is ignored, because
    ///     several classes may use the layer.
    public static func arguments(
        _ arguments: [String]? = nil, short: [Character: String] = [:]
    ) -> PrefsLayer {
        if let letter = short.keys.sorted().first(where: { !$0.isASCII || !$0.isLetter && !$0.isNumber }) {
            let found = ShownText.line("\(letter)", longest: 40)
            return PrefsLayer(
                name: "arguments", broken: "expected an ASCII letter or digit as a short option, found \"\(found)\"")
        }
        let all = CommandLine.arguments
        let own =
            arguments == nil || arguments == all ? Array(all.dropLast(wordsOfTool.withLock { $0 })) : arguments ?? []
        let source =
            arguments == nil
            ? ArgumentSource(own, short: short, isText: ProcessText.isText(argument:_:))
            : ArgumentSource(own, short: short)
        return PrefsLayer("arguments", .entries(.text(TextLayer(source))))
    }

    /// The number of words at the end of the program's arguments that are a command of the tool.
    package static let wordsOfTool = Locked(0)

    /// A property-list file or a JSON file; its content says which. It need not exist, and is never written. The path
    /// `/dev/null`, or a link to it, stands for no file.
    ///
    /// The file is laid out like the base: with ``DomainLayout/roots`` it has a dictionary under each root key. Costs
    /// one `fstat` for each read, and is observed.
    /// - Parameter url: a file URL. Any other URL is reported with ``PrefsError/ignoredInLayer(_:)``.
    public static func file(_ url: URL) -> PrefsLayer {
        at(url) { .file(LayerFile([$0])) }
    }

    /// A folder of secrets, with one file for each key: secrets of Docker (`/run/secrets`), a mounted Secret or ConfigMap of
    /// Kubernetes, credentials of systemd (`$CREDENTIALS_DIRECTORY`).
    ///
    /// A file has the name of a variable without a prefix, `DB_PASSWORD` for the key `dbPassword`, or of the key itself. If
    /// both exist, the one with the name of the key counts. Its text is read as that of a variable: see
    /// ``environment(prefix:in:)``. Names that begin with a dot are not keys; links are followed, also the `..data` of
    /// Kubernetes. A missing folder is an empty layer.
    ///
    /// The values are hidden as if the properties were `.sensitive`: in descriptions, errors, problems and the tool. A key
    /// stays hidden when its file is gone.
    ///
    /// A folder or a file that cannot be read, a subfolder with the name of a key, a text that is not UTF-8, and a file of
    /// more than 1 MiB are reported with ``PrefsError/ignoredInLayer(_:)`` and ignored. ``PersistentPrefs/problems()`` also
    /// names a file that resembles one of a key and, with ``PrefsProblem/Kind/permissions``, one that its group or others may
    /// write, whose value is used. All may read a file.
    ///
    /// A read of a preference costs one `stat` for the folder and for each of its files, and after a change a read of all
    /// files. A change is observed; after an exchange of `..data`, all values are of the new state. Any thread.
    /// - Parameter url: a file URL. Any other URL is reported with ``PrefsError/ignoredInLayer(_:)``.
    public static func folder(_ url: URL) -> PrefsLayer {
        // A URL of a folder may end with a slash.
        let isFolder = url.isFileURL && url.hasDirectoryPath
        let url = isFolder ? URL(filePath: url.absoluteURL.path, directoryHint: .notDirectory) : url
        return at(url) { .secrets(SecretsFolder($0)) }
    }

    private static func at(_ url: URL, _ source: (_ path: String) -> Source) -> PrefsLayer {
        do {
            let path = try NameVetting.path(of: url)
            return PrefsLayer(path, source(path))
        } catch {
            // The layer has the name of the URL.
            let reason = if case .invalidName(_, let reason) = error { reason } else { "\(error)" }
            return PrefsLayer(name: ShownText.line(url.absoluteString, longest: 200), broken: reason)
        }
    }

    /// The file `name.plist` or `name.json` in the folders of `$XDG_CONFIG_DIRS`, or in `/etc/xdg` if the variable is
    /// not set.
    ///
    /// The first file that exists counts; `.plist` comes before `.json` in a folder. Folders whose paths are not
    /// absolute are ignored. The variable is read once, when the layer is made; the files are looked for at each read.
    /// The rest is as for ``file(_:)``.
    /// - Parameters:
    ///   - name: at most 200 bytes, without `/`, NUL or a leading dot.
    ///   - variables: the environment, for tests; nil for that of the process.
    public static func system(_ name: String, in variables: [String: String]? = nil) -> PrefsLayer {
        do {
            try NameVetting.checkSuite(name)
        } catch {
            return PrefsLayer(name: "system", broken: "\(error)")
        }
        let variable = "XDG_CONFIG_DIRS"
        let value = (variables ?? ProcessInfo.processInfo.environment)[variable]
        // A repaired path would lead to another folder.
        if variables == nil, let value, !ProcessText.isText(variable: variable, value) {
            return PrefsLayer(name: "system", broken: "\(variable) is not UTF-8")
        }
        let given = value.flatMap { $0.isEmpty ? nil : $0 } ?? "/etc/xdg"
        let folders = given.utf8.split(separator: UInt8(ascii: ":")).map { String(Substring($0)) }
            .filter { $0.utf8.first == UInt8(ascii: "/") }
        return PrefsLayer(
            "system",
            .file(LayerFile(folders.flatMap { ["\($0)/\(name).plist", "\($0)/\(name).json"] })))
    }

    /// Values by key, for every root. Use it for the defaults of an app or of a test.
    ///
    /// - Parameters:
    ///   - values: property-list values. Others are reported with ``PrefsError/ignoredInLayer(_:)`` and left out.
    ///   - name: the name of the layer in errors.
    public static func values(_ values: [String: Any], name: String = "values") -> PrefsLayer {
        var vetted: [String: StoredValue] = [:]
        var faults: [PrefsProblem] = []
        for (key, value) in values {
            guard StreamSafeText.isSafe(key) else {
                faults.append(
                    PrefsProblem(layer: name, place: ShownText.line(key, longest: 80), reason: StreamSafeText.reason))
                continue
            }
            do {
                vetted[key] = try PropertyListVetter.value(of: value)
            } catch {
                faults += error.failures(forKey: key).map {
                    PrefsProblem(layer: name, place: $0.path, reason: $0.reason)
                }
            }
        }
        return PrefsLayer(name, .entries(.values(LayerValues(values: vetted, faults: faults))))
    }

    /// The managed values of a domain of `UserDefaults`.
    ///
    /// - Parameter forced: returns the value that an administrator forces for a key.
    package static func managed(_ forced: @escaping @Sendable (String) -> Any?) -> PrefsLayer {
        PrefsLayer("managed", .entries(.managed(forced)))
    }
}
