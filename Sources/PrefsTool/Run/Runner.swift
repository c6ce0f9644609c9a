import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsPropertyLists

/// Runs the commands on a place.
struct Runner {
    let invocation: Invocation
    let place: Place
    var program: Program { invocation.program }
    var wantsJSON: Bool { invocation.wantsJSON }

    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        place = try Place(of: invocation)
    }

    // MARK: - Reading

    /// Prints a value. For a property or a part of it, prints the value that the program reads.
    func get() throws -> Outcome {
        let (values, failure) = try place.existing()
        let path = try place.path(invocation.operands[0], in: values)
        var entry = values[path.root]
        if !invocation.options.has(.stored) {
            entry = place.effective(entry, path.root)
        } else if place.isOfLayer(path.root) {
            entry = nil
        }
        guard let value = path.value(in: entry) else {
            if let text = invocation.options[.defaultText] { return Outcome(output: text + "\n", as: .value) }
            throw missing(invocation.operands[0], path, in: entry, among: values)
        }
        if invocation.options.has(.printType) {
            let type = ValueText.typeName(value)
            let outcome = Outcome(
                output: (wantsJSON ? JSONText.object([("type", type)]).json : type) + "\n",
                as: wantsJSON ? .json : .text)
            return outcome.reporting(failure, asJSON: wantsJSON)
        }
        let shown = place.secrets.shown(value, at: path)
        let (text, form) = wantsJSON ? (shown.json, .json) : (ValueText.line(shown), ValueText.format(shown))
        return Outcome(output: text + "\n", as: form).reporting(failure, asJSON: wantsJSON)
    }

    /// The error for a path without a value. Suggests the name of a value beside it.
    func missing(
        _ word: String, _ path: ValuePath, in entry: StoredValue?, among values: [String: StoredValue]
    ) -> CommandError {
        var parent: ValuePath? = path
        while let container = parent?.parent, container.value(in: entry) == nil { parent = container }
        let siblings = parent?.parent.map { $0.value(in: entry) } ?? (place.prefs == nil ? .dictionary(values) : nil)
        let near = siblings?.dictionary.map { Array($0.keys) } ?? []
        let name = if case .key(let key)? = parent?.steps.last { key } else { path.root }
        return CommandError(
            "`\(ShownText.key(word))` is not set"
                + (entry == nil && place.prefs != nil ? "" : Suggestion.text(name, among: near)))
    }

    func schema() throws -> Outcome {
        guard let prefs = place.prefs else {
            throw UsageError("only the program's settings have a schema; give --root NAME with -f")
        }
        return Outcome(bytes: prefs.jsonSchema(), as: .json)
    }

    // MARK: - Writing

    /// Stores values, all or none.
    func set() throws -> Outcome {
        let assignments = try Assignments.parse(
            invocation.operands, file: invocation.options[.valueFile], input: invocation.context.input)
        let type = try invocation.options[.type].map(Self.type)
        return try place.change(invocation) { values, risks in
            if let expected = invocation.options[.expected], let first = assignments.first {
                try require(expected, at: first.key, in: values)
            }
            for (name, text) in assignments {
                let path = try place.path(name, in: values)
                let old = path.value(in: place.base(of: path.root, in: values))
                let new =
                    try calculated(text, from: old, as: type, path, in: values)
                    ?? value(of: text, at: path, as: type, in: values)
                if place.prefs == nil, type == nil, let old, let new, ValueText.typeName(old) != ValueText.typeName(new)
                {
                    risks.add(Risks.change(of: old, to: new, at: path.text))
                }
                let former = values[path.root]
                values[path.root] = try path.value(place.base(of: path.root, in: values), with: new)
                if let entry = values[path.root] { try place.check(entry, forKey: path.root, over: former) }
            }
        }
    }

    private enum ValueType {
        case plain(PropertyListType)
        case json
    }

    private static func type(_ name: String) throws(UsageError) -> ValueType {
        if name == "json" { return .json }
        if let type = PropertyListType(rawValue: name) { return .plain(type) }
        let names = PropertyListType.allCases.map(\.rawValue) + ["json"]
        let near = Suggestion.text(name, among: names)
        throw UsageError(
            "unknown type `\(ShownText.key(name))`\(near.isEmpty ? "; types are \(names.joined(separator: ", "))" : near)"
        )
    }

    private func value(
        of text: String, at path: ValuePath, as type: ValueType?, in values: [String: StoredValue]
    ) throws -> StoredValue? {
        guard case .json? = type else {
            let plain: PropertyListType? = if case .plain(let type)? = type { type } else { nil }
            return try place.value(of: text, at: path, as: plain, in: values)
        }
        do { return try ExportFormat.value(ofJSON: Data(text.utf8)) } catch PrefsError.invalidImport(let reason) {
            throw UsageError("\(ShownText.key(text)): \(reason)")
        }
    }

    /// `+1` adds to a number, and `toggle` negates a Boolean; nil for another text or type.
    private func calculated(
        _ text: String, from old: StoredValue?, as type: ValueType?, _ path: ValuePath,
        in values: [String: StoredValue]
    ) throws -> StoredValue? {
        if type != nil { return nil }
        let amount = text.utf8.first == UInt8(ascii: "+") ? String(text.unicodeScalars.dropFirst()) : nil
        let isNumber = amount.map { Double($0) != nil } ?? false
        guard let old else {
            guard place.prefs == nil, isNumber || text == "toggle" else { return nil }
            throw CommandError(
                "`\(ShownText.key(path.text))` is not set, so `\(text)` has nothing to start from; -t string stores the text"
            )
        }
        if let amount, isNumber, case .string = old, place.isDecimal(at: path, in: values) {
            return try Arithmetic.sum(ofDecimal: old, and: amount, path.text)
        }
        if let amount, old.isNumber { return try Arithmetic.sum(of: old, and: amount, path.text) }
        if text == "toggle", case .bool(let value) = old { return .bool(!value) }
        return nil
    }

    private func require(_ expected: String, at name: String, in values: [String: StoredValue]) throws {
        let path = try place.path(name, in: values)
        let now = path.value(in: place.base(of: path.root, in: values))
        let isSame =
            path.steps.isEmpty && place.prefs != nil
            ? now != nil && now == (try? place.value(of: expected, at: path, as: nil, in: values))
            : PropertyListType.readings(of: expected, like: now).contains { $0 == now }
        if isSame { return }
        let shown = now.map { ValueText.line(place.secrets.shown($0, at: path)) } ?? "no value"
        let wanted = place.secrets.contains(path.root) ? ShownText.hidden : expected
        throw CommandError("`\(ShownText.key(name))`: expected \(wanted), found \(shown); nothing has changed")
    }

    /// Removes values, so that the defaults of a program apply.
    func unset() throws -> Outcome {
        guard invocation.options.has(.all) != !invocation.operands.isEmpty else {
            throw UsageError("expected \(program.name) unset KEY … or \(program.name) unset --all")
        }
        // The domain must exist.
        if place.prefs == nil { _ = try place.existing() }
        return try place.change(invocation) { values, risks in
            if invocation.options.has(.all) {
                if place.prefs == nil, !values.isEmpty {
                    risks.add("all entries of the \(place.name) would be removed")
                }
                values = values.filter { place.isOfLayer($0.key) }
                return
            }
            let paths = try invocation.operands.map { try place.path($0, in: values) }
            if paths.contains(where: { path in path.hasIndex && paths.count { $0.root == path.root } > 1 }) {
                throw CommandError(
                    "each removal moves the elements after it; remove the elements of an array one by one")
            }
            for (word, path) in zip(invocation.operands, paths) {
                guard let old = path.value(in: place.base(of: path.root, in: values)) else {
                    if place.prefs != nil, path.steps.isEmpty { continue }
                    throw missing(word, path, in: place.base(of: path.root, in: values), among: values)
                }
                if place.prefs == nil, old.isContainer {
                    risks.add("the \(ValueText.typeName(old)) `\(ShownText.key(path.text))` would be removed")
                }
                let former = values[path.root]
                let base = path.steps.isEmpty ? nil : place.base(of: path.root, in: values)
                values[path.root] = try path.value(base, with: nil)
                if let entry = values[path.root] { try place.check(entry, forKey: path.root, over: former) }
            }
        }
    }
}
