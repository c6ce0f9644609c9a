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
            sources = operands.dropLast().map { Word.value($0, in: invocation) }
            target = try .target(last, hasOtherPlace: sources[0].place != nil, in: invocation)
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

        /// A word that is a key of the place that the person names is that key. Otherwise it is `FILE:KEY` if the file
        /// exists, or if it can be a path and no key of the place begins the word.
        static func value(_ word: String, in invocation: Invocation) -> Word {
            if invocation.place != nil, isKey(word, isWhole: true, in: invocation) {
                return Word(place: nil, key: word)
            }
            let parts = word.unicodeScalars.indices.filter { word.unicodeScalars[$0] == ":" }.map {
                Word(place: String(word.unicodeScalars[..<$0]), key: String(word.unicodeScalars[$0...].dropFirst()))
            }
            func isFile(_ part: Word, exists: Bool) -> Bool { Target.isFile(part.place ?? "", exists: exists) }
            return parts.first { isFile($0, exists: true) }
                ?? parts.first { part in
                    isFile(part, exists: false)
                        && (ExportFormat(extensionOf: part.place ?? "") != nil || !isKey(word, in: invocation))
                } ?? Word(place: nil, key: word)
        }

        /// - Parameter hasOtherPlace: whether the values come from a file that their words name.
        /// - Throws: `UsageError` if the word may be meant as a new file or as a key.
        static func target(
            _ word: String, hasOtherPlace: Bool, in invocation: Invocation
        ) throws(UsageError) -> Word {
            let (parsed, shown) = (value(word, in: invocation), ShownText.key(word))
            if parsed.place != nil || invocation.place != nil && isKey(word, isWhole: true, in: invocation) {
                return parsed
            }
            if Target.isFile(word, exists: !hasOtherPlace) { return Word(place: word, key: "") }
            if FileKind(of: word.absolutePath) == .other { throw UsageError("`\(shown)` is not a file") }
            if isKey(word, in: invocation) { return parsed }
            if ExportFormat(extensionOf: word) != nil {
                throw UsageError("`\(shown)` is neither a file nor a key; `\(shown):` is a new file")
            }
            // A file of another extension, or a mistyped one, must not become a key.
            if word.contains(":"), !word.contains("[") {
                throw UsageError("`\(shown)` is neither FILE:KEY of a file nor a key; `[\"\(shown)\"]` is a new key")
            }
            return parsed
        }

        /// Whether a word names a value of the place of the options; or, if it need not be whole, a place in one.
        private static func isKey(_ word: String, isWhole: Bool = false, in invocation: Invocation) -> Bool {
            guard let place = try? Place(of: invocation), let values = try? place.read().values,
                let path = try? place.path(word, in: values)
            else { return false }
            return isWhole
                ? path.value(in: values) != nil : place.prefs != nil || values[path.root] != nil
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
                if isMove { try Place.checkRemoval(of: paths.map(\.1), movedTo: paths.map(\.2)) }
                for (word, from, to) in paths {
                    let value = try value(at: from, word, in: values)
                    if isMove { try remove(from, value, from: &values) }
                    // The text of a value that gets another key in its dictionary stays where it is.
                    let stays = isMove && from.parent == to.parent
                    try store(value, as: stays ? value : spelled(value, from), at: to, in: &values, &risks)
                }
            }
        }
        let (values, failure) = try source.existing()
        if let failure, !failure.isWarning { throw failure }
        if let unread = source.unread { throw CommandError("\(unread); nothing has changed") }
        let copied = try words.map { word in
            let from = try source.path(word, in: values)
            let value = try value(at: from, word, in: values)
            guard source.secrets.shown(value, at: from) == value else {
                throw CommandError("`\(ShownText.key(word))` is sensitive; --reveal copies it")
            }
            return (from, value)
        }
        if isMove { try Place.checkRemoval(of: copied.map(\.0)) }
        let storing = try destination.prepared(invocation) { values, risks in
            for (from, value) in copied {
                let to = try newPath(from, in: values)
                try store(value, as: spelled(value, from), at: to, in: &values, &risks)
            }
        }
        guard isMove else { return try source.notMoreOpen(storing) }
        // Asks for both places before it changes the first one.
        let removing = try source.prepared(invocation) { values, _ in
            for (from, value) in copied { try remove(from, value, from: &values) }
        }
        let (outcome, removal) = (try source.notMoreOpen(storing), try removing())
        var both = outcome.adding(removal.messages)
        both.output += removal.output
        both.code = max(outcome.code, removal.code)
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

    /// A value as the source spells it, if the destination has room for that.
    private func spelled(_ value: StoredValue, _ path: ValuePath) -> StoredValue {
        destination.keepsNulls ? source.spelled(value, at: path) : value
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

    /// - Parameter text: the value as the source spells it.
    private func store(
        _ value: StoredValue, as text: StoredValue, at path: ValuePath, in values: inout [String: StoredValue],
        _ risks: inout Risks
    ) throws {
        let base = destination.base(of: path.root, in: values)
        if destination.prefs == nil, let old = path.value(in: base)?.present(), old != value {
            if old.isContainer {
                risks.add("the \(ValueText.typeName(old)) `\(ShownText.key(path.text(in: values)))` would be replaced")
            } else if ValueText.typeName(old) != ValueText.typeName(value) {
                risks.add(Risks.change(of: old, to: value, at: path.text(in: values)))
            }
        }
        if destination.prefs == nil, !destination.keepsNulls, let kind = Place.lost(of: value) {
            throw CommandError("`\(ShownText.key(path.text))`: \(kind) cannot be stored in a property list")
        }
        let former = values[path.root]
        let entry = try path.value(base, with: text)
        values[path.root] = try entry.flatMap { try destination.importable([path.root: $0])[path.root] }
        if let entry = values[path.root] { try destination.check(entry, forKey: path.root, over: former) }
    }
}
