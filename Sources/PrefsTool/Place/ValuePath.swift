import PersistentPreferences

/// The place of a value: `a.b[2]` is the third element of the entry `b` of `a`.
struct ValuePath: Hashable {
    enum Step: Hashable {
        case key(String)
        case index(Int)
    }

    /// The key of an entry at the top.
    let root: String
    /// The steps from there to the value; empty for the entry itself.
    let steps: [Step]

    init(_ root: String, _ steps: [Step] = []) {
        self.root = root
        self.steps = steps
    }

    /// Parses `a.b[2]`. `[+]` is the place behind the last element. A backslash makes a dot or a bracket part of a key.
    /// The longest beginning of the rest, with dots, that is an existing key counts as that key, because keys with dots
    /// are common.
    ///
    /// - Throws: `CommandError` if the text is neither a path nor a key that exists.
    init(_ text: String, in values: [String: StoredValue]) throws(CommandError) {
        try self.init(text, isKey: { values[$0] != nil }, value: { values[$0] })
    }

    /// - Parameters:
    ///   - isKey: whether a text is a key at the top.
    ///   - value: the value of such a key.
    init(
        _ text: String, isKey: (String) -> Bool, value: (String) -> StoredValue?
    ) throws(CommandError) {
        var container: StoredValue?
        var rest = text.unicodeScalars[...]
        var steps: [Step] = []
        repeat {
            if rest.first == "[", !steps.isEmpty {
                let end = rest.firstIndex(of: "]")
                let number = end.map { String(rest[..<$0].dropFirst()) } ?? ""
                guard let end, let index = number == "+" ? container?.array?.count ?? 0 : Int(number) else {
                    throw Self.failure(text)
                }
                steps.append(.index(index))
                container = container.flatMap { Self.element(index, of: $0) }
                rest = rest[rest.index(after: end)...]
            } else {
                let isFirst = steps.isEmpty
                if !isFirst, rest.popFirst() != "." { throw Self.failure(text) }
                let members = container?.dictionary ?? [:]
                let ends = rest.indices.filter { rest[$0] == "." || rest[$0] == "[" } + [rest.endIndex]
                let end = ends.last { end in
                    let key = String(rest[..<end])
                    return isFirst ? isKey(key) : members[key] != nil
                }
                let newEnd = ends.first { Self.isMark(at: $0, in: rest) } ?? rest.endIndex
                let key = end.map { String(rest[..<$0]) } ?? Self.unescaped(String(rest[..<newEnd]))
                // The empty key must exist.
                if end == nil, key.isEmpty { throw Self.failure(text) }
                steps.append(.key(key))
                container = isFirst ? value(key) : members[key]
                rest = rest[(end ?? newEnd)...]
            }
        } while !rest.isEmpty
        guard case .key(let root) = steps[0] else { throw Self.failure(text) }
        self.init(root, Array(steps.dropFirst()))
    }

    private static func failure(_ text: String) -> CommandError {
        if text.isEmpty { return CommandError("expected a key or a path such as a.b[0], found an empty text") }
        return CommandError(
            "expected a key or a path such as a.b[0], found `\(ShownText.key(text))`; "
                + "a new key of that name is written '\(ShownText.key(escaped(text)))'")
    }

    /// True for a dot or a bracket that no backslash precedes.
    private static func isMark(at index: String.Index, in text: Substring.UnicodeScalarView) -> Bool {
        index < text.endIndex && (text[index] == "." || text[index] == "[")
            && (index == text.startIndex || text[text.index(before: index)] != "\\")
    }

    private static func escaped(_ name: String) -> String {
        name.unicodeScalars.map { $0 == "." || $0 == "[" ? "\\\($0)" : String($0) }.joined()
    }

    private static func unescaped(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let kept = zip(scalars, scalars.dropFirst().map { $0 as Unicode.Scalar? } + [nil]).filter { scalar, next in
            scalar != "\\" || next != "." && next != "["
        }
        return kept.map { String($0.0) }.joined()
    }

    // MARK: - Parts

    /// `a.b[2]`, as `init` parses it if nothing exists.
    var text: String {
        steps.reduce(Self.escaped(root)) { text, step in
            switch step {
            case .key(let key): "\(text).\(Self.escaped(key))"
            case .index(let index): "\(text)[\(index)]"
            }
        }
    }

    /// The keys and indexes from the top.
    var names: [StoredValue] {
        [.string(root)]
            + steps.map { step in
                switch step {
                case .key(let key): .string(key)
                case .index(let index): StoredValue(index)
                }
            }
    }

    /// The container that the place is in; nil for an entry at the top.
    var parent: ValuePath? { steps.isEmpty ? nil : ValuePath(root, steps.dropLast()) }

    /// The place up to the first array. The place of an element is not stable, because its index changes with the
    /// elements before it.
    var outsideArrays: ValuePath { ValuePath(root, Array(steps.prefix { !$0.isIndex })) }

    var hasIndex: Bool { steps.contains(where: \.isIndex) }

    /// Whether the place is behind the last element of an array in the entry.
    func isAppended(to entry: StoredValue?) -> Bool {
        guard case .index(let index)? = steps.last else { return false }
        return parent?.value(in: entry)?.array?.count == index
    }

    /// The steps from a container of the place.
    func inside(_ container: ValuePath) -> ValuePath { ValuePath(root, Array(steps.dropFirst(container.steps.count))) }

    func appending(_ step: Step) -> ValuePath { ValuePath(root, steps + [step]) }

    // MARK: - Values

    /// The value at the place among the entries at the top; nil if it is missing.
    func value(in values: [String: StoredValue]) -> StoredValue? { value(in: values[root]) }

    /// The value at the place inside the entry; nil if it is missing.
    func value(in entry: StoredValue?) -> StoredValue? {
        steps.reduce(entry) { value, step in
            switch step {
            case .key(let key): value?.dictionary?[key]
            case .index(let index): value.flatMap { Self.element(index, of: $0) }
            }
        }
    }

    /// The entry with another value at the place. nil removes the value there. An index equal to the number of elements
    /// adds an element; a negative index counts from the end. Missing containers are made.
    ///
    /// - Throws: `CommandError` if there is no such place.
    func value(_ entry: StoredValue?, with new: StoredValue?) throws(CommandError) -> StoredValue? {
        try replacing(entry, steps[...], with: new)
    }

    private func replacing(
        _ value: StoredValue?, _ rest: ArraySlice<Step>, with new: StoredValue?
    ) throws(CommandError) -> StoredValue? {
        guard let step = rest.first else { return new }
        let place = "`\(ShownText.key(ValuePath(root, Array(steps.dropLast(rest.count))).text))`"
        switch step {
        case .key(let key):
            guard var values = value.map(\.dictionary) ?? [:] else {
                throw CommandError("\(place): expected a dictionary, found \(Self.kind(of: value))")
            }
            values[key] = try replacing(values[key], rest.dropFirst(), with: new)
            return .dictionary(values)
        case .index(let index):
            guard var values = value.map(\.array) ?? [] else {
                throw CommandError("\(place): expected an array, found \(Self.kind(of: value))")
            }
            if index == values.count, new != nil {
                values.append(try replacing(nil, rest.dropFirst(), with: new) ?? .dictionary([:]))
                return .array(values)
            }
            guard let position = Self.position(index, of: values.count) else {
                let count = values.count == 1 ? "1 element" : "\(values.count) elements"
                throw CommandError("there is no element \(index) of \(place), which has \(count)")
            }
            if let element = try replacing(values[position], rest.dropFirst(), with: new) {
                values[position] = element
            } else {
                values.remove(at: position)
            }
            return .array(values)
        }
    }

    private static func element(_ index: Int, of value: StoredValue) -> StoredValue? {
        value.array.flatMap { values in position(index, of: values.count).map { values[$0] } }
    }

    private static func position(_ index: Int, of count: Int) -> Int? {
        let position = index < 0 ? count + index : index
        return (0..<count).contains(position) ? position : nil
    }

    private static func kind(of value: StoredValue?) -> String {
        value.map { "type \(ValueText.typeName($0))" } ?? "nothing"
    }
}

extension ValuePath.Step {
    fileprivate var isIndex: Bool { if case .index = self { true } else { false } }
}
