import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsPropertyLists

extension Runner {
    /// Prints all values, or those at some paths, as a table.
    func show() throws -> Outcome {
        if invocation.options.has(.domains) {
            guard invocation.operands.isEmpty else {
                throw UsageError("--domains lists all domains; leave out --domains or the keys")
            }
            return try Domains(invocation).list()
        }
        if invocation.options.has(.sources), !wantsJSON {
            throw UsageError("--sources is an option of --json; the table of settings has the sources")
        }
        let (values, failure) = try place.existing()
        let paths = try invocation.operands.map { word in
            let path = try place.path(word, in: values)
            let entry = place.effective(values[path.root], path.root)
            // A declared key without a value has a row, too.
            guard place.prefs != nil && path.steps.isEmpty || path.value(in: entry) != nil else {
                throw missing(word, path, in: entry, among: values)
            }
            return path
        }
        return (wantsJSON ? Outcome(output: try json(values, paths), as: .json) : Outcome(output: table(values, paths)))
            .noting(place.unusedNames, asJSON: wantsJSON)
            .reporting(failure, asJSON: wantsJSON)
    }

    private func table(_ values: [String: StoredValue], _ paths: [ValuePath]) -> String {
        var head = Table()
        if let prefs = place.prefs { head.add("root", cell(prefs.key)) }
        head.add("store", place.name)
        if let file = place.file { head.add("file", file) }
        let table = place.prefs == nil ? entries(values, paths) : settings(values, paths)
        let context = invocation.context
        return head.text() + "\n" + table.text(head: context.outputStyle, width: context.outputWidth)
    }

    /// Whether the terminal has room for keys and values only.
    private var isNarrow: Bool { invocation.context.outputWidth.map { $0 < TerminalWidth.ofTables } ?? false }

    /// A row for each key.
    private func settings(_ values: [String: StoredValue], _ paths: [ValuePath]) -> Table {
        let shown = place.keys.filter { key in paths.isEmpty || paths.contains { $0.root == key.name } }
        let hasNames = shown.contains { $0.shortName != $0.name }
        func row(_ key: String, _ stored: String, _ type: String, _ source: String, _ value: String) -> [String] {
            isNarrow ? [key, value] : [key] + (hasNames ? [stored] : []) + [type, source, value]
        }
        var table = Table()
        table.add(row("KEY", "STORED AS", "TYPE", "SOURCE", "VALUE"))
        for key in shown {
            let stored = values[key.name]
            func text(_ value: StoredValue) -> String { ValueText.line(place.secrets.shown(value, at: [key.name])) }
            let mismatch = stored.flatMap { place.prefs?.mismatch(of: $0, forKey: key.name) }
            let note = mismatch.map {
                "  (stored: \(ShownText.line(stored.map(text) ?? "", longest: 40)): \($0.reason))"
            }
            let value = place.effective(stored, key.name).map { cell(text($0)) } ?? "(not set)"
            table.add(row(key.shortName, key.name, key.typeName, source(of: key), value + (note ?? "")))
        }
        return table
    }

    /// A row for each value that is not a dictionary.
    private func entries(_ values: [String: StoredValue], _ paths: [ValuePath]) -> Table {
        var table = Table()
        func row(_ key: String, _ type: String, _ value: String) -> [String] {
            isNarrow ? [key, value] : [key, type, value]
        }
        table.add(row("KEY", "TYPE", "VALUE"))
        func add(_ value: StoredValue, at path: ValuePath) {
            if let members = value.dictionary, !members.isEmpty {
                for (key, member) in members.sortedByBytes { add(member, at: path.appending(.key(key))) }
            } else {
                let text = ValueText.line(place.secrets.shown(value, at: path))
                table.add(row(path.text(in: values), ValueText.typeName(value), cell(text)))
            }
        }
        for path in paths.isEmpty ? values.sortedByBytes.map({ ValuePath($0.key) }) : paths {
            if let value = path.value(in: values) { add(value, at: path) }
        }
        return table
    }

    /// `default`, `stored` or `layer NAME`, because a layer may be named `default` or `stored`.
    private func source(of key: PrefsKey) -> String {
        guard let source = place.prefs?.source(ofKey: key.name) else { return "" }
        return if case .layer(let name) = source { "layer \(cell(name))" } else { "\(source)" }
    }

    /// Shows an empty text as `""`. Truncates long values on a terminal; `get`, JSON and a pipe show them in full.
    private func cell(_ text: String) -> String {
        if text.isEmpty { return #""""# }
        return invocation.context.outputWidth.map { ShownText.line(text, longest: max(200, $0)) } ?? text
    }

    /// The values that the program reads, in the format of an export, so that an import accepts them. Secrets are left
    /// out, because an import would store their dots.
    private func json(_ values: [String: StoredValue], _ paths: [ValuePath]) throws -> String {
        var shown = place.secrets.removed(from: values, isDeep: true)
        if place.prefs != nil {
            shown = [:]
            for key in place.keys { shown[key.name] = place.effective(values[key.name], key.name) }
            shown = place.secrets.removed(from: shown)
        }
        if !paths.isEmpty {
            let all = shown
            shown = [:]
            // As in the table: the whole value of a setting, the value at the path of an entry, and all elements of an
            // array.
            for path in paths {
                let path = place.prefs == nil ? path.outsideArrays : ValuePath(path.root)
                guard let value = path.value(in: all) else { continue }
                shown[path.root] = try path.value(shown[path.root], with: value)
            }
        }
        return try ExportFormat.json(
            of: .dictionary(invocation.options.has(.sources) ? withSources(shown) : shown))
    }

    /// For each value, an object with it and where it comes from.
    private func withSources(_ values: [String: StoredValue]) -> [String: StoredValue] {
        Dictionary(
            uniqueKeysWithValues: values.map { key, value in
                var object: [String: StoredValue] = ["value": value, "source": .string("stored")]
                object["type"] = .string(place.key(key)?.typeName ?? ValueText.typeName(value))
                switch place.prefs?.source(ofKey: key) {
                case .layer(let name)?: object.merge(["source": .string("layer"), "layer": .string(name)]) { $1 }
                case .default?: object["source"] = .string("default")
                default: object["file"] = place.file.map(StoredValue.string)
                }
                return (key, .dictionary(object))
            })
    }
}

/// The roots of a store with a URL.
enum RootList {
    /// The names, if the command is about all of them.
    ///
    /// - Returns: nil for another place.
    static func outcome(_ invocation: Invocation) throws -> Outcome? {
        guard let target = try invocation.target(), target.hasRootsOnly, invocation.operands.isEmpty,
            !invocation.options.has(.root),
            let names = try target.store(of: invocation.program).roots.rootNames()
        else { return nil }
        return Outcome(names: names, asJSON: invocation.wantsJSON)
    }
}

/// The UserDefaults domains of the user.
struct Domains {
    private let invocation: Invocation

    /// - Throws: `UsageError` if the user names a place as well.
    init(_ invocation: Invocation) throws(UsageError) {
        self.invocation = invocation
        let option = [OptionSpec.root, .layers, .layer].first(where: invocation.options.has)?.name
        if let option = invocation.place == nil ? option : OptionSpec.place.name {
            throw UsageError("--domains takes all domains; leave out --domains or \(option)")
        }
    }

    /// The names of all UserDefaults domains.
    func list() throws -> Outcome { Outcome(names: try DomainNames.all(), asJSON: invocation.wantsJSON) }

    /// The entries of all readable domains, without secrets, and the reasons why other domains cannot be read.
    func entries() throws -> (domains: [String: StoredValue], failures: [String]) {
        var domains: [String: StoredValue] = [:]
        var failures: [String] = []
        for name in try DomainNames.all() {
            do {
                let place = try Place(
                    entriesOf: .suite(name), in: invocation.program, reveals: invocation.options.has(.reveal))
                let (values, failure) = try place.read()
                if let values { domains[name] = place.secrets.shown(.dictionary(values), at: []) }
                if let failure { failures.append("\(failure)") }
            } catch {
                failures.append("\(error)")
            }
        }
        return (domains, failures)
    }
}
