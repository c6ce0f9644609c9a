public import Foundation
public import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// A layer of values above or below the base of a ``LayeredStore``.
///
/// ```swift
/// import PrefsLayers
///
/// let store = LayeredStore(
///     .standard, above: [.arguments(), .environment(prefix: "EDITOR_")], below: [.system("editor")])
/// ```
///
/// ## Behavior
/// The environment and the arguments are *text*, which instances parse by the declared type of each property. The other
/// layers have values. An entry that does not fit its property is reported with ``PrefsError/invalidLayer(_:)`` and
/// ignored; the next layer is read instead. The keys of a layer are the current ones: migrations and former keys apply
/// to the base only.
///
/// See <doc:Layers>.
public struct PrefsLayer: Sendable {
    /// The name in errors and in ``PrefSource/layer(_:)``: `environment`, `arguments`, `system`, `values`, `managed`,
    /// or the path of a file.
    public let name: String
    let source: Source

    enum Source: Sendable {
        case entries(LayerEntries)
        case file(LayerFile)
    }

    private init(_ name: String, _ source: Source) {
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

    var cycles: [LayerFault] {
        guard case .file(let file) = source else { return [] }
        return file.pathsToBase.map {
            LayerFault(layer: name, place: $0, reason: "the layer reads the file of the base")
        }
    }

    /// The variables of the environment. The variable of a key is the prefix and the key: `EDITOR_fontSize`.
    ///
    /// A character of the key that is not an ASCII letter or digit becomes `_`, so `font.size` and `font-size` share a
    /// variable. The environment is read once, when the layer is made. The variable applies to every root.
    /// - Parameters:
    ///   - prefix: the beginning of the variables' names; it may be empty.
    ///   - variables: the environment, for tests.
    public static func environment(
        prefix: String, in variables: [String: String] = ProcessInfo.processInfo.environment
    ) -> PrefsLayer {
        PrefsLayer("environment", .entries(.text { LayerText(variable: prefix + variableName($0), in: variables) }))
    }

    private static func variableName(_ key: String) -> String {
        String(
            String.UnicodeScalarView(
                key.unicodeScalars.map {
                    $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil) ? $0 : "_"
                }))
    }

    /// The arguments of the program: `-fontSize 14`, as in the argument domain of `UserDefaults`.
    ///
    /// The argument after `-key` is its value, even if it begins with a dash. An argument that equals `-key` counts at
    /// every position, also as the value of another key; the last one wins. Arguments after `--` are ignored. The value
    /// is parsed by the type of the property and, unlike in `UserDefaults`, not read as an old-style property list.
    /// - Parameter arguments: the name of the program and its arguments, for tests.
    public static func arguments(_ arguments: [String] = CommandLine.arguments) -> PrefsLayer {
        let words = Array(arguments.dropFirst().prefix { $0 != "--" })
        return PrefsLayer("arguments", .entries(.text { LayerText(argument: "-" + $0, in: words) }))
    }

    /// Returns the arguments that are neither `-key` of an instance's class nor its value, for your own parser. Drops
    /// the program's name; keeps `--` and all arguments after it. Costs time linear in the number of arguments. Any
    /// thread.
    ///
    /// ```swift
    /// for path in PrefsLayer.unusedArguments(by: prefs) { open(path) }
    /// ```
    public static func unusedArguments(
        by instances: PersistentPrefs..., in arguments: [String] = CommandLine.arguments
    ) -> [String] {
        let keys = Set(instances.flatMap { $0.allowedKeyList.map { "-" + $0 } })
        let words = Array(arguments.dropFirst())
        let end = words.firstIndex(of: "--") ?? words.count
        let used = Set(words[..<end].indices.filter { keys.contains(words[$0]) }.flatMap { [$0, $0 + 1] })
        return words.indices.filter { $0 >= end || !used.contains($0) }.map { words[$0] }
    }

    /// A property-list file, or a JSON file if its name ends with `.json`. It need not exist, and is never written.
    ///
    /// The file is laid out like the base: with ``DomainLayout/roots`` it has a dictionary under each root key. Costs
    /// one `fstat` for each read, and is observed.
    /// - Parameter url: a file URL. Any other URL is reported with ``PrefsError/invalidLayer(_:)``.
    public static func file(_ url: URL) -> PrefsLayer {
        do {
            let path = try NameVetting.path(of: url)
            return PrefsLayer(path, .file(LayerFile([path])))
        } catch {
            return PrefsLayer(name: ShownText.line(url.absoluteString, longest: 200), broken: "\(error)")
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
    ///   - variables: the environment, for tests.
    public static func system(
        _ name: String, in variables: [String: String] = ProcessInfo.processInfo.environment
    ) -> PrefsLayer {
        do {
            try NameVetting.checkSuite(name)
        } catch {
            return PrefsLayer(name: "system", broken: "\(error)")
        }
        let given = variables["XDG_CONFIG_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/etc/xdg"
        let folders = given.utf8.split(separator: UInt8(ascii: ":")).map { String(Substring($0)) }
            .filter { $0.utf8.first == UInt8(ascii: "/") }
        return PrefsLayer(
            "system",
            .file(LayerFile(folders.flatMap { ["\($0)/\(name).plist", "\($0)/\(name).json"] })))
    }

    /// Values by key, for every root. Use it for the defaults of an app or of a test.
    ///
    /// - Parameters:
    ///   - values: property-list values. Others are reported with ``PrefsError/invalidLayer(_:)`` and left out.
    ///   - name: the name of the layer in errors.
    public static func values(_ values: [String: Any], name: String = "values") -> PrefsLayer {
        var vetted: [String: StoredValue] = [:]
        var faults: [LayerFault] = []
        for (key, value) in values {
            guard StreamSafeText.isSafe(key) else {
                faults.append(
                    LayerFault(layer: name, place: ShownText.line(key, longest: 80), reason: StreamSafeText.reason))
                continue
            }
            do {
                vetted[key] = try PropertyListVetter.value(of: value, forKey: key)
            } catch {
                faults += error.failures.map { LayerFault(layer: name, place: $0.path, reason: $0.reason) }
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
