import PersistentPreferences

/// A place inside a property-list value: `.b[2]` in `a.b[2]`.
struct ValuePath: Hashable {
    enum Step: Hashable {
        case key(String)
        case index(Int)
    }

    /// The key of the value itself.
    let root: String
    /// nil or empty: the value itself.
    let steps: [Step]

    /// Parses `a.b[2]`. A text with a syntax error is a key as a whole. A backslash makes a dot or a bracket part of a key.
    ///
    /// - Parameter isKey: whether a text is a key as it stands. Such a text is never split.
    init(_ text: String, isKey: (String) -> Bool) {
        (root, steps) = isKey(text) ? (text, []) : Self.parts(of: text, isKey) ?? (Self.unescaped(text), [])
    }

    /// True if the text has no dot and no bracket without a backslash.
    static func isName(_ text: String) -> Bool {
        let scalars = text.unicodeScalars[...]
        return !scalars.indices.contains { isMark(at: $0, in: scalars) }
    }

    static func escaped(_ name: String) -> String {
        name.unicodeScalars.map { $0 == "." || $0 == "[" ? "\\\($0)" : String($0) }.joined()
    }

    static func unescaped(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let kept = zip(scalars, scalars.dropFirst().map { $0 as Unicode.Scalar? } + [nil]).filter { scalar, next in
            scalar != "\\" || next != "." && next != "["
        }
        return kept.map { String($0.0) }.joined()
    }

    /// True for a dot or a bracket that no backslash precedes.
    private static func isMark(at index: String.Index, in text: Substring.UnicodeScalarView) -> Bool {
        (text[index] == "." || text[index] == "[")
            && (index == text.startIndex || text[text.index(before: index)] != "\\")
    }

    /// The longest beginning that is a key, and the steps after it.
    private static func parts(of text: String, _ isKey: (String) -> Bool) -> (String, [Step])? {
        let scalars = text.unicodeScalars
        let ends = scalars.indices.filter { $0 > scalars.startIndex && isMark(at: $0, in: scalars[...]) }
        let end = ends.last { isKey(String(scalars[..<$0])) } ?? ends.first
        guard let end, let steps = steps(of: scalars[end...]) else { return nil }
        let root = String(scalars[..<end])
        return (isKey(root) ? root : unescaped(root), steps)
    }

    private static func steps(of text: Substring.UnicodeScalarView) -> [Step]? {
        var steps: [Step] = []
        var rest = text
        while let first = rest.popFirst() {
            if first == "[" {
                guard let end = rest.firstIndex(of: "]"), let index = Int(String(rest[..<end])) else { return nil }
                steps.append(.index(index))
                rest = rest[rest.index(after: end)...]
            } else {
                guard first == "." else { return nil }
                let end = rest.indices.first { isMark(at: $0, in: rest) } ?? rest.endIndex
                if end == rest.startIndex { return nil }
                steps.append(.key(unescaped(String(rest[..<end]))))
                rest = rest[end...]
            }
        }
        return steps
    }

    // MARK: - Values

    /// The value at the place; nil if there is none.
    func value(in value: StoredValue?) -> StoredValue? {
        steps.reduce(value) { value, step in
            switch (value, step) {
            case (.dictionary(let values)?, .key(let key)): values[key]
            case (.array(let values)?, .index(let index)): Self.position(index, of: values.count).map { values[$0] }
            default: nil
            }
        }
    }

    /// The value with another one at the place. nil removes what is there. An index that is the number of elements adds one; a
    /// negative index counts from the end. Missing dictionaries are made.
    ///
    /// - Throws: `CommandError` if there is no such place.
    func value(_ value: StoredValue?, with new: StoredValue?) throws -> StoredValue? {
        try Self.replacing(value, steps[...], root, with: new)
    }

    private static func replacing(
        _ value: StoredValue?, _ steps: ArraySlice<Step>, _ place: String, with new: StoredValue?
    ) throws -> StoredValue? {
        guard let step = steps.first else { return new }
        let rest = steps.dropFirst()
        switch step {
        case .key(let key):
            guard var values = value.map(\.dictionary) ?? [:] else {
                throw CommandError("`\(ShownText.key(place))` is \(kind(of: value)), not a dictionary")
            }
            values[key] = try replacing(values[key], rest, "\(place).\(key)", with: new)
            return .dictionary(values)
        case .index(let index):
            guard var values = value.map(\.array) ?? [] else {
                throw CommandError("`\(ShownText.key(place))` is \(kind(of: value)), not an array")
            }
            let name = "\(place)[\(index)]"
            if index == values.count, new != nil {
                values.append(try replacing(nil, rest, name, with: new) ?? .dictionary([:]))
                return .array(values)
            }
            guard let position = position(index, of: values.count) else {
                let count = values.count == 1 ? "1 element" : "\(values.count) elements"
                throw CommandError("there is no `\(ShownText.key(name))`: the array has \(count)")
            }
            if let element = try replacing(values[position], rest, name, with: new) {
                values[position] = element
            } else {
                values.remove(at: position)
            }
            return .array(values)
        }
    }

    private static func position(_ index: Int, of count: Int) -> Int? {
        let position = index < 0 ? count + index : index
        return (0..<count).contains(position) ? position : nil
    }

    private static func kind(of value: StoredValue?) -> String {
        value.map { "of type \(ValueText.typeName($0))" } ?? "missing"
    }
}
