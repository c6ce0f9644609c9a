import Foundation
import PersistentPreferences
import PrefsFileEngine

/// Copies or moves values within a place or to another one. The values keep their types.
struct Copy {
    private let invocation: Invocation
    private let isMove: Bool
    private let source: Place
    private let destination: Place
    /// The paths of the values, and their new paths.
    private let paths: [(from: String, to: String)]

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
            sources = operands.dropLast().map { Word($0) }
            target = Word(last, mayBeFile: true)
        }
        guard sources.allSatisfy({ $0.place == sources[0].place }) else {
            throw UsageError("`\(invocation.spec.name)` takes the values of one file at a time")
        }
        guard sources.count == 1 || target.key.isEmpty else {
            throw UsageError("several values keep their keys; name only the file of the copies")
        }
        paths = sources.map { ($0.key, target.key.isEmpty ? $0.key : target.key) }
        source = try Place(of: invocation, at: sources[0].place)
        destination = try Place(of: invocation, at: target.place)
    }

    /// `KEY`, `FILE:KEY`, or the file alone.
    private struct Word {
        /// The word of the place; nil for the place of the options.
        let place: String?
        let key: String

        init(place: String?, key: String) { (self.place, self.key) = (place, key) }

        init(_ word: String, mayBeFile: Bool = false) {
            let ends = word.unicodeScalars.indices.filter { word.unicodeScalars[$0] == ":" }
            let end = ends.first { Target.isFile(String(word.unicodeScalars[..<$0]), exists: false) }
            if let end {
                let rest = word.unicodeScalars[word.unicodeScalars.index(after: end)...]
                self.init(place: String(word.unicodeScalars[..<end]), key: String(rest))
            } else if mayBeFile, Target.isFile(word, exists: false) {
                self.init(place: word, key: "")
            } else {
                self.init(place: nil, key: word)
            }
        }
    }

    // MARK: - Running

    /// Changes one place in one transaction. A move to another place stores there before it removes here, so a failure
    /// in between loses nothing.
    func run() throws -> Outcome {
        if isWithinOnePlace {
            return try source.change(invocation) { values, risks in
                for (from, to) in paths {
                    let value = try value(at: from, in: values)
                    if isMove { try remove(from, value, from: &values) }
                    try store(value, at: to, in: &values, &risks)
                }
            }
        }
        let (values, failure) = try source.existing()
        if let failure, !failure.isWarning { throw failure }
        let copied = try paths.map { ($0.from, $0.to, try value(at: $0.from, in: values)) }
        for (from, _, value) in copied {
            let path = try source.path(from, in: values)
            guard source.secrets.shown(value, at: path) == value else {
                throw CommandError("`\(ShownText.key(from))` is sensitive; --reveal copies it")
            }
        }
        let outcome = try destination.change(invocation) { values, risks in
            for (_, to, value) in copied { try store(value, at: to, in: &values, &risks) }
        }
        guard isMove else { return outcome }
        let removal = try source.change(invocation) { values, _ in
            for (from, _, value) in copied { try remove(from, value, from: &values) }
        }
        var both = outcome.adding(removal.messages)
        both.output += removal.output
        return both
    }

    private func value(at name: String, in values: [String: StoredValue]) throws -> StoredValue {
        let path = try source.path(name, in: values)
        guard let value = path.value(in: source.effective(values[path.root], path.root)) else {
            throw CommandError("`\(ShownText.key(name))` is not set", near: name, among: values)
        }
        return value
    }

    private func remove(_ name: String, _ value: StoredValue, from values: inout [String: StoredValue]) throws {
        let path = try source.path(name, in: values)
        let base = source.base(of: path.root, in: values)
        guard path.value(in: source.effective(values[path.root], path.root)) == value else {
            throw CommandError("`\(ShownText.key(name))` has changed meanwhile; it was copied and stays")
        }
        values[path.root] = try path.value(path.steps.isEmpty ? nil : base, with: nil)
    }

    private func store(
        _ value: StoredValue, at name: String, in values: inout [String: StoredValue], _ risks: inout Risks
    ) throws {
        let path = try destination.path(name, in: values)
        let base = destination.base(of: path.root, in: values)
        if destination.prefs == nil, let old = path.value(in: base), !old.isNull, old != value {
            if old.isContainer {
                risks.add("the \(ValueText.typeName(old)) `\(ShownText.key(path.text))` would be replaced")
            } else if ValueText.typeName(old) != ValueText.typeName(value) {
                risks.add(Risks.change(of: old, to: value, at: path.text))
            }
        }
        if value.holdsNull, !destination.keepsNulls {
            throw CommandError("`\(ShownText.key(name))`: null cannot be stored in a property list")
        }
        let former = values[path.root]
        let entry = try path.value(base, with: value)
        values[path.root] = try entry.flatMap { try destination.importable([path.root: $0])[path.root] }
        if let entry = values[path.root] { try destination.check(entry, forKey: path.root, over: former) }
    }
}
