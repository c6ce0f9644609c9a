import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsJSON

/// Copies or moves values within a place or to another one. The values keep their types.
struct Copy {
    private let invocation: Invocation
    private let isMove: Bool
    private let source: Place
    private let destination: Place
    /// The words of the values.
    private let words: [String]
    /// The word of the new place; nil if the values keep their keys.
    private let newKey: String?

    private var isWithinOnePlace: Bool {
        guard let from = source.file, let to = destination.file else { return source.target == destination.target }
        func physical(_ path: String) -> String { (try? SidecarPaths(path: path).file) ?? path }
        return physical(from) == physical(to) && (source.prefs == nil) == (destination.prefs == nil)
    }

    /// - Throws: `UsageError`; an error if a place cannot be opened.
    init(_ invocation: Invocation, isMove: Bool) throws {
        self.invocation = invocation
        self.isMove = isMove
        let operands = invocation.operands
        let named = invocation.options.all(.place)
        let (sources, target): ([Word], Word)
        if named.count == 2 {
            sources = operands.map { Word(place: named[0], key: $0) }
            target = Word(place: named[1], key: "")
        } else {
            guard operands.count > 1, let last = operands.last else {
                throw UsageError(
                    "`\(invocation.spec.name)` needs the place of the copy: a key, FILE:KEY, or a second -f")
            }
            sources = operands.dropLast().map { Word($0, in: invocation) }
            target = try Word(ofTarget: last, hasOtherPlace: sources[0].place != nil, in: invocation)
        }
        guard sources.allSatisfy({ $0.place == sources[0].place }) else {
            throw UsageError("`\(invocation.spec.name)` takes the values of one file at a time")
        }
        guard sources.count == 1 || target.key.isEmpty else {
            throw UsageError("several values keep their keys; name only the file of the copies")
        }
        (words, newKey) = (sources.map(\.key), target.key.isEmpty ? nil : target.key)
        source = try Place(of: invocation, at: sources[0].place)
        destination = try Place(of: invocation, at: target.place)
    }

    /// `KEY`, `FILE:KEY`, or the file alone.
    private struct Word {
        /// The word of the place; nil for the place of the options.
        let place: String?
        let key: String

        init(place: String?, key: String) { (self.place, self.key) = (place, key) }

        /// A word is `FILE:KEY` if the file exists, or if it can be a path and no key of the place begins the word.
        init(_ word: String, in invocation: Invocation) {
            let parts = word.unicodeScalars.indices.filter { word.unicodeScalars[$0] == ":" }.map {
                (String(word.unicodeScalars[..<$0]), String(word.unicodeScalars[$0...].dropFirst()))
            }
            let file =
                parts.first { Target.isFile($0.0, exists: true) }
                ?? parts.first { part, _ in
                    Target.isFile(part, exists: false)
                        && (ExportFormat(extensionOf: part) != nil || !Self.isKey(word, in: invocation))
                }
            self = file.map { Word(place: $0.0, key: $0.1) } ?? Word(place: nil, key: word)
        }

        /// - Parameter hasOtherPlace: whether the values come from a file that their words name.
        /// - Throws: `UsageError` if the word may be meant as a new file or as a key.
        init(ofTarget word: String, hasOtherPlace: Bool, in invocation: Invocation) throws(UsageError) {
            self.init(word, in: invocation)
            guard place == nil else { return }
            if Target.isFile(word, exists: !hasOtherPlace) {
                self.init(place: word, key: "")
            } else if ExportFormat(extensionOf: word) != nil, !Self.isKey(word, in: invocation) {
                let shown = ShownText.key(word)
                throw UsageError("`\(shown)` is neither a file nor a key; `\(shown):` is a new file")
            }
        }

        /// Whether a word names a value of the place of the options, or a place in one.
        private static func isKey(_ word: String, in invocation: Invocation) -> Bool {
            guard let place = try? Place(of: invocation), let values = try? place.read().values,
                let path = try? place.path(word, in: values)
            else { return false }
            return place.prefs != nil || values[path.root] != nil
        }
    }

    // MARK: - Running

    /// Changes one place in one transaction. A move to another place stores there before it removes here, so a failure
    /// in between loses nothing.
    func run() throws -> Outcome {
        if isWithinOnePlace {
            return try source.change(invocation) { values, risks in
                let paths = try words.map { word in
                    let from = try source.path(word, in: values)
                    return (word, from, try newPath(from, in: values))
                }
                if isMove { try Place.checkRemoval(of: paths.map(\.1)) }
                for (word, from, to) in paths {
                    let value = try value(at: from, word, in: values)
                    if isMove { try remove(from, value, from: &values) }
                    try store(value, at: to, in: &values, &risks)
                }
            }
        }
        let (values, failure) = try source.existing()
        if let failure, !failure.isWarning { throw failure }
        let copied = try words.map { word in
            let from = try source.path(word, in: values)
            let value = try value(at: from, word, in: values)
            guard source.secrets.shown(value, at: from) == value else {
                throw CommandError("`\(ShownText.key(word))` is sensitive; --reveal copies it")
            }
            return (from, value)
        }
        if isMove { try Place.checkRemoval(of: copied.map(\.0)) }
        let outcome = try destination.change(invocation) { values, risks in
            for (from, value) in copied { try store(value, at: newPath(from, in: values), in: &values, &risks) }
        }
        guard isMove else { return outcome }
        let removal = try source.change(invocation) { values, _ in
            for (from, value) in copied { try remove(from, value, from: &values) }
        }
        var both = outcome.adding(removal.messages)
        both.output += removal.output
        return both
    }

    /// Where a value is stored. Without a new key, its keys stay.
    private func newPath(_ path: ValuePath, in values: [String: StoredValue]) throws -> ValuePath {
        guard let newKey else { return try destination.declared(path) }
        let new = try destination.path(newKey, in: values)
        if !invocation.options.has(.nest) { try destination.checkNesting(newKey, new, in: values) }
        return new
    }

    private func value(at path: ValuePath, _ word: String, in values: [String: StoredValue]) throws -> StoredValue {
        guard let value = path.value(in: source.effective(values[path.root], path.root)) else {
            throw CommandError("`\(ShownText.key(word))` is not set", near: word, among: values)
        }
        return value
    }

    private func remove(
        _ path: ValuePath, _ value: StoredValue, from values: inout [String: StoredValue]
    ) throws {
        let base = source.base(of: path.root, in: values)
        guard path.value(in: source.effective(values[path.root], path.root)) == value else {
            throw CommandError("`\(ShownText.key(path.text))` has changed meanwhile; it was copied and stays")
        }
        values[path.root] = try path.value(path.steps.isEmpty ? nil : base, with: nil)
    }

    private func store(
        _ value: StoredValue, at path: ValuePath, in values: inout [String: StoredValue], _ risks: inout Risks
    ) throws {
        let base = destination.base(of: path.root, in: values)
        if destination.prefs == nil, let old = path.value(in: base), !old.isNull, old != value {
            if old.isContainer {
                risks.add("the \(ValueText.typeName(old)) `\(ShownText.key(path.text))` would be replaced")
            } else if ValueText.typeName(old) != ValueText.typeName(value) {
                risks.add(Risks.change(of: old, to: value, at: path.text))
            }
        }
        if destination.prefs == nil, !destination.keepsNulls, value.holdsNull || value.plain != value {
            let kind = value.holdsNull ? "null" : "a number of so many digits"
            throw CommandError("`\(ShownText.key(path.text))`: \(kind) cannot be stored in a property list")
        }
        let former = values[path.root]
        let entry = try path.value(base, with: value)
        values[path.root] = try entry.flatMap { try destination.importable([path.root: $0])[path.root] }
        if let entry = values[path.root] { try destination.check(entry, forKey: path.root, over: former) }
    }
}
