import Foundation
import PersistentPreferences
import PrefsDocuments
import PrefsFileEngine
import PrefsJSON
import PrefsLayers
import PrefsPropertyLists

/// The place that a command works on: the settings of the program, whose keys are declared with types, or the entries
/// of any file or domain.
struct Place {
    let program: Program
    /// The target of the values; nil if only the program knows it.
    let target: Target?
    /// The declared keys; empty for entries.
    let keys: [PrefsKey]
    let secrets: Secrets
    /// The path of the file; nil if the place is not a file.
    let file: String?
    /// The preferences of the program; nil for entries.
    let prefs: PersistentPrefs?
    /// The entries; nil for the preferences of the program.
    let entries: Roots?
    /// The root that has the entries; nil if the whole domain has them.
    let root: String?
    /// The stream that the values come from; nil for other places.
    let stream: StreamContent?
    /// The path of the file, in which writes keep the text of an XML property list while this exists; nil if the place is not
    /// a file.
    private let location: FileLocation?

    /// The place that a command line names.
    ///
    /// - Parameter word: the word of the place; nil for the one of the whole command line.
    /// - Throws: `UsageError`; `PrefsError`.
    init(of invocation: Invocation, at word: String? = nil) throws {
        let (program, options) = (invocation.program, invocation.options)
        let hasLayers = options.has(.layers) || options.has(.layer)
        let named = try invocation.target(word)
        let stream = try named.flatMap { try StreamContent.read($0, in: program) }
        if let named, options[.root] == nil, !hasLayers {
            // In a flat layout, the keys of the program's own file are declared.
            if let own = try program.ownPrefs(in: named), own.hasFlatLayout {
                self.init(settings: own, in: program, at: named, reveals: options.has(.reveal))
                return
            }
            if !named.hasRootsOnly {
                try self.init(entriesOf: named, in: program, reveals: options.has(.reveal), stream: stream)
                return
            }
        }
        if case .url? = named, options.has(.timeout) {
            throw UsageError("--timeout is for the lock of a file; \(named?.name ?? "") has none")
        }
        if case .url? = named, !hasLayers {
            let roots = try named?.store(of: program).roots
            // Nothing says that a root of other programs has the keys of this one.
            guard let root = options[.root] else {
                throw UsageError("\(named?.name ?? "") has roots; give --root NAME (`\(program.name) show` lists them)")
            }
            try self.init(root: root, in: roots, at: named, of: program)
            return
        }
        var store = try stream?.store ?? named?.store(of: program)
        if hasLayers, let base = try store ?? program.target?.store(of: program) {
            let above = options[.layers].map { [PrefsLayer.environment(prefix: $0, in: program.context.environment)] }
            let below = options.all(.layer).map { PrefsLayer.file(URL(filePath: $0.absolutePath)) }
            store = .layered(base, above: above ?? [], below: below)
        }
        self.init(
            settings: program.make(options[.root], store), in: program, at: named, reveals: options.has(.reveal),
            stream: stream)
        // These help a file in any state.
        if case .file? = named, !["undo", "doctor"].contains(invocation.spec.name) { try checkRoot() }
    }

    /// Rejects a root in a file that has the keys of the program at its top: reads would find nothing, and a write would
    /// put a dictionary beside them.
    private func checkRoot() throws(CommandError) {
        guard let prefs, let target, !prefs.hasFlatLayout, let entries = try? target.domain().entries().entries,
            entries[prefs.key] == nil, let key = keys.first(where: { entries[$0.name] != nil })
        else { return }
        throw CommandError(
            "\(target.word) has `\(ShownText.key(key.name))` at its top and no root `\(ShownText.key(prefs.key))`; "
                + "leave out --root")
    }

    /// Creates the place of a program's settings.
    init(
        settings prefs: PersistentPrefs, in program: Program, at named: Target? = nil, reveals: Bool = false,
        stream: StreamContent? = nil
    ) {
        self.program = program
        self.stream = stream
        target = named ?? program.target
        keys = PrefsKey.all(of: prefs)
        secrets = Secrets(of: prefs, reveals: reveals)
        file = (target?.url ?? prefs.fileURL)?.absoluteURL.path(percentEncoded: false)
        location = FileLocation.keepingText(atPath: file)
        (self.prefs, entries, root) = (prefs, nil, nil)
    }

    /// Creates the place of a root in a store with a URL.
    private init(root: String, in roots: Roots?, at target: Target?, of program: Program) throws {
        try NameVetting.checkRoot(root)
        self.program = program
        self.target = target
        (keys, secrets, file, stream, prefs, location) = ([], .none, nil, nil, nil, nil)
        (entries, self.root) = (roots, root)
    }

    /// Creates the place of all entries of a domain. Secrets of the program are also hidden in its own file.
    init(
        entriesOf target: Target, in program: Program, reveals: Bool = false, stream: StreamContent? = nil
    ) throws {
        self.program = program
        self.target = target
        self.stream = stream
        let domain = try stream?.store.roots ?? target.domain()
        keys = []
        secrets = try program.ownPrefs(in: target).map { Secrets(of: $0, reveals: reveals) } ?? .none
        file = domain.fileURL?.absoluteURL.path(percentEncoded: false)
        location = FileLocation.keepingText(atPath: file)
        (prefs, entries, root) = (nil, domain, nil)
    }

    /// The name for messages.
    var name: String {
        if let root { return "the root `\(ShownText.key(root))` of \(target?.name ?? "")" }
        return target?.name
            ?? (file == nil
                ? "the store of \(program.name)" : prefs?.hasNulls == true ? "JSON file" : "property-list file")
    }

    /// Whether the file may have nulls.
    var keepsNulls: Bool { prefs == nil && (stream?.isJSON ?? target?.isJSON ?? false) }

    /// What a property list cannot hold of a value of a JSON file; nil if it holds the value.
    static func lost(of value: StoredValue) -> String? {
        value.holdsNull ? "null" : value.plain == value ? nil : "a number that a double does not hold exactly"
    }

    // MARK: - Reading

    /// The values, including values of layers, and their faults. For a malformed file, the newest known state and the
    /// error.
    ///
    /// - Returns: nil values if there is no such domain.
    /// - Throws: `PrefsError` if nothing is known.
    func read() throws -> (values: [String: StoredValue]?, failure: PrefsError?) {
        let (values, failure): ([String: StoredValue]?, PrefsError?)
        if let prefs {
            values = prefs.currentValues
            failure = prefs.lastError
        } else {
            (values, failure) = try entries?.entries(of: root) ?? (nil, nil)
        }
        if case .rootIsNotDictionary? = failure, let failure { throw CommandError(explain(failure)) }
        if prefs == nil, case .notOurs(let file)? = failure, FileFormat.isOpenStep(atPath: file.path) {
            throw CommandError(
                "\(file.path): property lists in the OpenStep format, such as .strings files, are not read"
                    + FileFormat.openStepRemedy)
        }
        if let failure, !failure.isWarning, !failure.returnsKnownState { throw failure }
        return (values, failure)
    }

    /// The names in the layers that no key has, each with its reason. No access reports them.
    var unusedNames: [String] {
        guard let prefs, prefs.state.roots.layers != nil else { return [] }
        return prefs.problems().filter { $0.kind == .unknownKey && $0.source != .stored }.map { "\($0)" }
    }

    /// The values of a domain that must exist. Of a JSON file in which keys stand twice, what most programs read.
    func existing() throws -> (values: [String: StoredValue], failure: PrefsError?) {
        let (values, failure): ([String: StoredValue]?, PrefsError?)
        do {
            (values, failure) = try read()
            if let failure, let lenient = lenient(failure) { return lenient }
        } catch {
            guard let lenient = (error as? PrefsError).flatMap(lenient) else { throw error }
            return lenient
        }
        if let values { return (values, failure) }
        if let failure { throw failure }
        let state =
            switch file.map({ (kind: FileKind(of: $0), path: $0) }) {
            case (_?, let path)?: FileKind.isLinkToNothing(path) ? "is a link to a missing file" : "is empty"
            default: "not found"
            }
        throw CommandError("\(name) \(state)", at: file.map { URL(filePath: $0) })
    }

    /// The values of a JSON file in which keys stand twice, and a warning; nil for another failure.
    private func lenient(_ failure: PrefsError) -> (values: [String: StoredValue], failure: PrefsError?)? {
        guard prefs == nil, root == nil, case .notOurs(let file) = failure,
            let bytes = try? ExportFile.read(file.path), let (value, repeated) = JSONReader.lenientValue(of: bytes),
            let values = value.dictionary
        else { return nil }
        return (values, .problem(PrefsProblem(.store, reason: "\(file.path): \(repeated); writes are rejected")))
    }

    /// What a property list has and no read returns, with the path of the file; nil if it has nothing of the kind. Costs another
    /// read of the file.
    var unread: String? {
        guard let file, let bytes = try? ExportFile.read(file), let loss = (try? PropertyListCoder.decode(bytes))?.loss
        else { return nil }
        return "\(file): \(loss)"
    }

    /// The value that the program reads: the stored value as its type reads it, or the default if it is missing or does
    /// not fit.
    func effective(_ stored: StoredValue?, _ key: String) -> StoredValue? {
        guard let prefs else { return stored }
        return stored.flatMap { prefs.readValue(of: $0, forKey: key) } ?? prefs.storedDefault(forKey: key) ?? stored
    }

    /// Whether the value of a key comes from a layer, so that it is not stored.
    func isOfLayer(_ key: String) -> Bool {
        if case .layer? = prefs?.source(ofKey: key) { true } else { false }
    }

    /// The value that a change of a part starts from: the value that the program reads, with the fields that only other
    /// versions know. If the stored value does not fit its type, the stored value.
    func base(of key: String, in values: [String: StoredValue]) -> StoredValue? {
        guard let prefs else { return values[key] }
        guard let stored = values[key] else { return prefs.storedDefault(forKey: key) }
        return prefs.readValue(of: stored, forKey: key).map { stored.merged(over: $0) } ?? stored
    }

    // MARK: - Names

    func key(_ name: String) -> PrefsKey? { PrefsKey.named(name, among: keys) }

    /// The path that a user names: by a key, by the name of its property, or by a path into its value.
    ///
    /// - Throws: an error if the program has no such key.
    func path(_ text: String, in values: [String: StoredValue]) throws -> ValuePath {
        guard prefs != nil else { return try ValuePath(text, in: values) }
        let path = try ValuePath(
            text, isKey: { key($0) != nil }, value: { key($0).flatMap { base(of: $0.name, in: values) } })
        return try declared(path)
    }

    /// The path with the key that a class declares in place of the name of the property.
    ///
    /// - Throws: an error if the program has no such key.
    func declared(_ path: ValuePath) throws -> ValuePath {
        if prefs == nil { return path }
        guard let key = key(path.root) else {
            throw CommandError(explain(.incorrectKeys(invalidElements: [path.root])))
        }
        return ValuePath(key.name, path.steps)
    }

    /// Rejects `editor.size` in a dictionary with keys such as `editor.fontSize`, and as a new entry of a domain of
    /// `UserDefaults`: the value would be in a new dictionary `editor`, where no program looks. A backslash or quotes
    /// in the new part of the text say that the person knows.
    ///
    /// - Parameter text: what the person has typed for the path.
    /// - Throws: `CommandError` with both spellings.
    func checkNesting(_ text: String, _ path: ValuePath, in values: [String: StoredValue]) throws(CommandError) {
        let steps = [.key(path.root)] + path.steps
        var (container, depth) =
            prefs == nil ? (StoredValue.dictionary(values), 0) : (base(of: path.root, in: values) ?? .null, 1)
        // A number has no members, so its key is only the beginning of a name.
        while depth < steps.count, let next = container.element(steps[depth]), next.isContainer {
            (container, depth) = (next, depth + 1)
        }
        let names = steps[depth...].prefix { !$0.isIndex }.compactMap(\.name)
        guard names.count > 1, let members = container.dictionary else { return }
        let hasDots = members.keys.contains { $0.utf8.contains(UInt8(ascii: ".")) }
        guard hasDots || depth == 0 && target?.suite != nil && members[names[0]] == nil else { return }
        let key = names.joined(separator: ".")
        let rest = ValuePath([.key("")] + steps[(depth + names.count)...]).text
        guard text.utf8.reversed().starts(with: (key + rest).utf8.reversed()) else { return }
        let new = ValuePath(steps[..<depth] + [.key(key)] + steps[(depth + names.count)...])
        let place = depth == 0 ? "this file" : "`\(ShownText.key(ValuePath(steps[..<depth]).text))`"
        throw CommandError(
            (hasDots ? "the keys of \(place) have dots, and none is" : "\(self.name) has no key")
                + " `\(ShownText.key(key))`" + Suggestion.text(key, among: members.keys.sorted())
                + "; a new key of that name is written \(new.word), and --nest makes dictionaries")
    }

    /// The permissions of the file for reading and writing; nil if there is none. The owner may read and write in any case:
    /// a copy of a read-only file can be changed.
    var mode: mode_t? {
        let physical = file.flatMap { try? SidecarPaths(path: $0).file }
        return physical.flatMap { FileMetadata($0) }.map { mode_t($0.mode) & 0o666 | 0o600 }
    }

    /// Runs a write elsewhere of what this place has: a new file is not more open than the file of this place.
    func notMoreOpen<R>(_ body: () throws -> R) rethrows -> R {
        var hook = ToolHook.current
        if let mode { hook?.modeOfNewFiles = mode }
        return try ToolHook.$current.withValue(hook, operation: body)
    }

    /// Describes an error. For an unknown key, suggests a similar key or lists the keys.
    func explain(_ error: PrefsError) -> String {
        if case .rootIsNotDictionary(let key) = error, let place = target?.word ?? file {
            let words = [ValuePath(key).text]
            guard let command = ShellCommand.text(of: program, "unset", ["--force", "-f", place], words: words) else {
                return error.description
            }
            return error.description.replacing("deleteRoot() removes it", with: "`\(command)` removes it")
        }
        guard case .incorrectKeys(let names) = error else { return error.description }
        let unknown = names.map { "`\(ShownText.key($0))`" }.joined(separator: ", ")
        if let name = names.first, names.count == 1,
            let near = NearestWord(among: keys.flatMap { [$0.shortName, $0.name] }).nearest(to: name)
        {
            // In a file, the key may differ from the name of the property.
            let meant = near == name ? key(name)?.name ?? near : near
            return "no key \(unknown); did you mean `\(ShownText.key(meant))`?"
        }
        let list = keys.map { $0.shortName == $0.name ? $0.name : "\($0.shortName) (\($0.name))" }
        return "no key \(unknown); keys are \(list.joined(separator: ", "))"
    }
}

extension FileLocation {
    fileprivate static func keepingText(atPath path: String?) -> FileLocation? {
        guard let path else { return nil }
        let location = FileLocation(path: path) { $0.add(.xml) }
        // An access says why a path leads nowhere.
        try? location.withFile { _ in }
        return location
    }
}

extension StoredValue {
    /// This value; if both values are dictionaries, the members of both, at every depth.
    func merged(over other: StoredValue) -> StoredValue {
        guard let members = dictionary, let others = other.dictionary else { return self }
        return .dictionary(others.merging(members) { $1.merged(over: $0) })
    }
}
