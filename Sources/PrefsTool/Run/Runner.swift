import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
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

    /// Prints values, one after another. For a property or a part of it, prints the value that the program reads.
    func get() throws -> Outcome {
        let (values, failure) = try place.existing()
        var (output, notes): ([(text: String, format: OutputFormat)], [String]) = ([], [])
        for word in invocation.operands {
            let path = try place.path(word, in: values)
            var entry = values[path.root]
            if !invocation.options.has(.stored) {
                let mismatch = entry.flatMap { place.prefs?.mismatch(of: $0, forKey: path.root) }
                if let mismatch { notes.append("\(mismatch.path): \(mismatch.reason); the program reads the default") }
                entry = place.effective(entry, path.root)
            } else if place.isOfLayer(path.root) {
                entry = nil
            }
            if let value = path.value(in: entry) {
                output.append(try shown(value, at: path, as: word))
            } else if let text = invocation.options[.defaultText] {
                output.append((text, .value))
            } else {
                throw missing(word, path, in: entry, among: values)
            }
        }
        let text = output.map { $0.text + "\n" }.joined()
        return Outcome(output: text, as: output.count == 1 ? output[0].format : wantsJSON ? .json : .value)
            .noting(notes + place.unusedNames, asJSON: wantsJSON)
            .reporting(failure, asJSON: wantsJSON)
    }

    /// A value or its type as `get` prints it. In JSON, a value has the form of an export.
    ///
    /// - Throws: `CommandError` for a sensitive value, whose dots a script would take for the value.
    private func shown(_ value: StoredValue, at path: ValuePath, as word: String) throws -> (String, OutputFormat) {
        if invocation.options.has(.printType) {
            let type = ValueText.typeName(value)
            return wantsJSON ? (JSONText.object([("type", type)]).json, .json) : (type, .text)
        }
        guard place.secrets.shown(value, at: path) == value else {
            throw CommandError("`\(ShownText.key(word))` is sensitive; --reveal prints it")
        }
        if !wantsJSON { return (ValueText.line(value), ValueText.format(value)) }
        return (try ExportFormat.json(of: value).trimmingCharacters(in: .newlines), .json)
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
        var new: [(path: ValuePath, value: StoredValue)] = []
        var hints: [String] = []
        var stored: [String] = []
        let outcome = try place.change(invocation) { values, risks in
            (new, hints, stored) = ([], [], [])
            if let expected = invocation.options[.expected], let first = assignments.first {
                try require(expected, at: first.key, in: values)
            }
            for (name, text) in assignments {
                let path = try place.path(name, in: values)
                let base = place.base(of: path.root, in: values)
                let old = path.value(in: base)
                // A new element is read like the one before it.
                let alike = old ?? (path.isAppended(to: base) ? path.parent?.value(in: base)?.array?.last : nil)
                let value = try naming(name, path) {
                    try calculated(text, from: old, as: type, path, in: values)
                        ?? self.value(of: text, at: path, like: alike, as: type, in: values)
                }
                if !invocation.options.has(.nest) { try place.checkNesting(name, path, in: values) }
                if place.prefs == nil, type == nil, let value {
                    if old == nil {
                        new.append((path, value))
                        hints += Self.hint(about: path, in: base, among: values)
                    }
                    // A null is a place without a value.
                    if let old, !old.isNull, !value.isNull, ValueText.typeName(old) != ValueText.typeName(value) {
                        risks.add(Risks.change(of: old, to: value, at: path.text(in: values)))
                    }
                }
                let former = values[path.root]
                values[path.root] = try path.value(base, with: value.map { place.spelled($0, text) })
                if let entry = values[path.root] { try place.check(entry, forKey: path.root, over: former) }
                if place.prefs != nil { stored.append(self.stored(path, in: values[path.root])) }
            }
        }
        if invocation.isDryRun { return outcome }
        // A script knows the types, and its log should stay empty. But YES is a Boolean for some programs.
        let isSeen = isatty(invocation.context.errors) == 1
        let told = isSeen ? new : new.filter { ["YES", "NO"].contains($0.value.string) }
        let texts = told.map { path, value in
            "\(path.text): \(ValueText.typeName(value)) (-t TYPE stores another type)"
        }
        return outcome.adding(
            (texts + (isSeen ? hints + stored : [])).map {
                Outcome.Message(text: $0, isError: false, isJSON: wantsJSON)
            })
    }

    /// What the program reads after a change, for a person.
    private func stored(_ path: ValuePath, in entry: StoredValue?) -> String {
        let value = path.value(in: place.effective(entry, path.root)) ?? .null
        let text = ValueText.line(place.secrets.shown(value, at: path))
        return "\(path.text) is \(ShownText.line(text, longest: 200))"
    }

    /// What to say of a new key that resembles one beside it. Keys that differ in their numbers, as `server1` and `server2`, are
    /// meant.
    private static func hint(
        about path: ValuePath, in entry: StoredValue?, among values: [String: StoredValue]
    ) -> [String] {
        guard path.steps.isEmpty || path.parent?.value(in: entry)?.dictionary != nil else { return [] }
        let siblings = path.steps.isEmpty ? values : path.parent?.value(in: entry)?.dictionary ?? [:]
        let name = path.lastName
        func withoutNumbers(_ text: String) -> [UInt8] { text.utf8.filter { !(0x30...0x39).contains($0) } }
        let others = siblings.keys.filter { withoutNumbers($0) != withoutNumbers(name) }
        return NearestWord(among: others.sorted()).nearest(to: name).map { near in
            [
                "`\(ShownText.key(name))` is new here, beside `\(ShownText.key(near))`; `unset` removes it if it is a mistake"
            ]
        } ?? []
    }

    /// Runs the body. Its errors name a key as the user has typed it.
    private func naming<R>(_ name: String, _ path: ValuePath, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as PrefsError {
            let (text, key) = ("\(error)", ShownText.key(path.root))
            let rest = text.hasPrefix(key) ? text.dropFirst(key.count) : ""
            let isOther = path.steps.isEmpty && name != path.root && rest.first.map { ":.[".contains($0) } == true
            throw isOther ? CommandError(name + rest) : error
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
        of text: String, at path: ValuePath, like old: StoredValue?, as type: ValueType?,
        in values: [String: StoredValue]
    ) throws -> StoredValue? {
        guard case .json? = type else {
            let plain: PropertyListType? = if case .plain(let type)? = type { type } else { nil }
            return try place.value(of: text, at: path, as: plain, in: values, like: old)
        }
        do {
            let keepsNulls = place.keepsNulls || place.prefs?.hasNulls == true
            let value = try ExportFormat.value(ofJSON: Data(text.utf8), keepsNulls: keepsNulls)
            guard let prefs = place.prefs, path.steps.isEmpty else { return value }
            if value.isNull, prefs.acceptsNil(forKey: path.root) {
                return try place.noValue(forKey: path.root, of: prefs)
            }
            return try place.importable([path.root: value])[path.root]
        } catch PrefsError.invalidImport(let reason) {
            throw UsageError("\(ShownText.key(text)): \(reason)")
        }
    }

    /// `+1` adds to a number, and `toggle` negates a Boolean; nil for another text.
    ///
    /// - Throws: `CommandError` if the value at the place is of another type.
    private func calculated(
        _ text: String, from old: StoredValue?, as type: ValueType?, _ path: ValuePath,
        in values: [String: StoredValue]
    ) throws -> StoredValue? {
        let amount = text.utf8.first == UInt8(ascii: "+") ? String(text.unicodeScalars.dropFirst()) : nil
        let isAmount = amount.map { Double($0) != nil } ?? false
        if let amount, type == nil, let old, let sum = try Arithmetic.sum(of: old, and: amount, path.text) {
            return sum
        }
        if text == "toggle", type == nil, case .bool(let value)? = old { return .bool(!value) }
        // Of several choices, none or the one of this name is meant.
        let hasChoices = path.steps.isEmpty && place.key(path.root)?.description?.choices != nil
        guard type == nil, isAmount || text == "toggle", !hasChoices else { return nil }
        let name = "`\(ShownText.key(path.text))`"
        guard let old else {
            if place.prefs != nil { return nil }
            throw CommandError("\(name) is not set, so `\(text)` has nothing to start from; -t string stores the text")
        }
        if let amount, isAmount, case .string = old, place.isDecimal(at: path, in: values) {
            return try Arithmetic.sum(ofDecimal: old, and: amount, path.text)
        }
        // The type of another declared property rejects the text.
        if place.prefs != nil, old.string == nil { return nil }
        throw CommandError(
            "\(name) is of type \(ValueText.typeName(old)), so `\(text)` cannot change it; -t string stores the text")
    }

    private func require(_ expected: String, at name: String, in values: [String: StoredValue]) throws {
        let path = try place.path(name, in: values)
        let now = path.value(in: place.base(of: path.root, in: values))
        let isSame =
            path.steps.isEmpty && place.prefs != nil
            ? now != nil && now == (try? place.value(of: expected, at: path, as: nil, in: values))
            : PropertyListType.readings(of: expected, like: now, keepsNulls: place.keepsNulls).contains { $0 == now }
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
            try Place.checkRemoval(of: paths)
            for (word, path) in zip(invocation.operands, paths) {
                guard let old = path.value(in: place.base(of: path.root, in: values)) else {
                    if place.prefs != nil, path.steps.isEmpty { continue }
                    throw missing(word, path, in: place.base(of: path.root, in: values), among: values)
                }
                if place.prefs == nil, old.isContainer {
                    risks.add(
                        "the \(ValueText.typeName(old)) `\(ShownText.key(path.text(in: values)))` would be removed")
                }
                let former = values[path.root]
                let base = path.steps.isEmpty ? nil : place.base(of: path.root, in: values)
                values[path.root] = try path.value(base, with: nil)
                if let entry = values[path.root] { try place.check(entry, forKey: path.root, over: former) }
            }
        }
    }
}

/// The values of a `set` command.
enum Assignments {
    /// Parses `KEY VALUE`, `KEY=VALUE …` or, with a file, `KEY`. A VALUE `-` is standard input, without its last line
    /// end.
    ///
    /// - Parameter input: the descriptor of the standard input.
    /// - Throws: `UsageError`.
    static func parse(
        _ words: [String], file: String?, input: Int32
    ) throws(UsageError) -> [(key: String, text: String)] {
        if let file {
            guard words.count == 1 else { throw UsageError("--from takes the place of VALUE: set KEY --from PATH") }
            return [(words[0], try contents(file, input: input))]
        }
        // Looks at the key first, because a value may be large.
        if words.count == 2, parts(of: words[0]) == nil || parts(of: words[1]) == nil {
            return [(words[0], words[1] == "-" ? try contents(nil, input: input) : words[1])]
        }
        return try words.map { word throws(UsageError) in
            guard let assignment = parts(of: word) else {
                throw words.count == 1
                    ? UsageError("too few arguments for `set`: set KEY VALUE")
                    : UsageError(
                        "expected KEY=VALUE, found \"\(ShownText.key(word))\" (quote a value that contains spaces)")
            }
            return assignment
        }
    }

    private static func parts(of word: String) -> (key: String, text: String)? {
        var rest = word.unicodeScalars[...]
        while let scalar = rest.first {
            if scalar == "=" {
                let key = word.unicodeScalars[..<rest.startIndex]
                return key.isEmpty ? nil : (String(key), String(rest.dropFirst()))
            }
            // A key in the quotes of JSON may have the sign.
            rest = rest[(ValuePath.endOfQuotedKey(rest) ?? rest.index(after: rest.startIndex))...]
        }
        return nil
    }

    /// The text of a file, or of the standard input, without its last line end.
    static func contents(_ file: String?, input: Int32) throws(UsageError) -> String {
        let bytes: Data
        do throws(StorageFailure) {
            bytes = try ExportFile.read(file.flatMap { $0 == "-" ? nil : $0 }?.absolutePath, orInput: input)
        } catch {
            throw UsageError("\(error)")
        }
        guard let text = String(validUTF8: bytes) else {
            throw UsageError("\(file ?? "standard input") is not valid UTF-8")
        }
        return text.utf8.last == UInt8(ascii: "\n") ? String(text.unicodeScalars.dropLast()) : text
    }
}
