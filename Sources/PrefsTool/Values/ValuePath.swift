import PersistentPreferences
import PrefsJSON

/// The place of a value: `a.b[2]` is the third element of the entry `b` of `a`.
struct ValuePath: Hashable {
    enum Step: Hashable {
        case key(String)
        case index(Int)
        /// The place behind the last element.
        case end
    }

    /// The key of an entry at the top.
    let root: String
    /// The steps from there to the value; empty for the entry itself.
    let steps: [Step]

    init(_ root: String, _ steps: [Step] = []) {
        self.root = root
        self.steps = steps
    }

    /// - Parameter steps: from the top; the first is a key.
    init(_ steps: ArraySlice<Step>) { self.init(steps.first?.name ?? "", Array(steps.dropFirst())) }

    /// Parses `a.b[2]`. `[+]` is the place behind the last element. A backslash makes a dot or a bracket part of a key,
    /// and `["a.b"]` is the key in the quotes of JSON, as in JSONPath (RFC 9535).
    /// The longest beginning of the rest, with dots, that is an existing key counts as that key, because keys with dots
    /// are common. A key with a backslash that is read as a part of it comes first.
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
            let isFirst = steps.isEmpty
            let members = container?.dictionary ?? [:]
            func add(_ key: String) {
                steps.append(.key(key))
                container = isFirst ? value(key) : members[key]
            }
            if let (key, length) = Self.quotedKey(rest) {
                add(key)
                rest = rest.dropFirst(length)
            } else if rest.first == "[", !isFirst {
                let end = rest.firstIndex(of: "]")
                let number = end.map { String(rest[..<$0].dropFirst()) } ?? ""
                guard let end, let step = number == "+" ? .end : Int(number).map(Step.index) else {
                    throw Self.failure(text)
                }
                steps.append(step)
                container = container?.element(step)
                rest = rest[rest.index(after: end)...]
            } else {
                if !isFirst, rest.popFirst() != "." { throw Self.failure(text) }
                func exists(_ key: String) -> Bool { isFirst ? isKey(key) : members[key] != nil }
                let ends = rest.indices.filter { rest[$0] == "." || rest[$0] == "[" } + [rest.endIndex]
                let newEnd = ends.first { Self.isMark(at: $0, in: rest) } ?? rest.endIndex
                let typed = String(rest[..<newEnd])
                let new = Self.unescaped(typed)
                let isEscaped = new != typed && exists(new)
                let end = isEscaped ? nil : ends.last { exists(String(rest[..<$0])) }
                // The empty key must exist, or stand in quotes.
                if end == nil, new.isEmpty { throw Self.failure(text) }
                add(end.map { String(rest[..<$0]) } ?? new)
                rest = rest[(end ?? newEnd)...]
            }
        } while !rest.isEmpty
        self.init(steps[...])
    }

    private static func failure(_ text: String) -> CommandError {
        if text.isEmpty { return CommandError("expected a key or a path such as a.b[0], found an empty text") }
        return CommandError(
            "expected a key or a path such as a.b[0], found `\(ShownText.key(text))`; "
                + "a new key of that name is written \(ValuePath(text).word)")
    }

    /// The key that a rest such as `["a.b"]…` begins with, and the number of scalars that it takes; nil for another rest.
    private static func quotedKey(_ rest: Substring.UnicodeScalarView) -> (key: String, length: Int)? {
        guard let end = Self.endOfQuotedKey(rest) else { return nil }
        let quoted = rest[..<end].dropFirst().dropLast()
        guard let key = PropertyListType.quoted(String(quoted))?.string else { return nil }
        return (key, rest[..<end].count)
    }

    /// The end of a text in quotes and brackets, `["a.b"]`, at the start of a text; nil if there is none.
    static func endOfQuotedKey(_ text: Substring.UnicodeScalarView) -> String.Index? {
        guard text.starts(with: "[\"".unicodeScalars) else { return nil }
        var rest = text.dropFirst(2)
        while let scalar = rest.popFirst() {
            if scalar == "\\" { rest = rest.dropFirst() }
            if scalar == "\"" { return rest.first == "]" ? rest.index(after: rest.startIndex) : nil }
        }
        return nil
    }

    /// True for a dot or a bracket that no backslash precedes. Two backslashes stand for one.
    private static func isMark(at index: String.Index, in text: Substring.UnicodeScalarView) -> Bool {
        index < text.endIndex && (text[index] == "." || text[index] == "[")
            && text[..<index].reversed().prefix { $0 == "\\" }.count.isMultiple(of: 2)
    }

    /// Puts a backslash before each dot and bracket, and doubles those that stand before one or at the end.
    private static func escaped(_ name: String) -> String {
        if !name.utf8.contains(where: { $0 == backslash || isMark($0) }) { return name }
        return withBackslashes(of: name) { count, isBeforeMark in 2 * count + (isBeforeMark ? 1 : 0) }
    }

    private static func unescaped(_ text: String) -> String {
        if !text.utf8.contains(backslash) { return text }
        return withBackslashes(of: text) { count, isBeforeMark in count - (count + (isBeforeMark ? 1 : 0)) / 2 }
    }

    private static let backslash = UInt8(ascii: "\\")

    private static func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ".") || byte == UInt8(ascii: "[") }

    /// A text with other numbers of backslashes before its dots and brackets, and at its end.
    ///
    /// - Parameter number: the new number, from the former one.
    private static func withBackslashes(of text: String, _ number: (_ count: Int, _ isBeforeMark: Bool) -> Int)
        -> String
    {
        var bytes: [UInt8] = []
        var count = 0
        func add(_ number: Int) { bytes.append(contentsOf: repeatElement(backslash, count: number)) }
        for byte in text.utf8 {
            if byte == backslash {
                count += 1
                continue
            }
            add(isMark(byte) ? number(count, true) : count)
            bytes.append(byte)
            count = 0
        }
        add(number(count, false))
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - Parts

    /// `a.b[2]`, as `init` parses it if nothing exists.
    var text: String {
        steps.reduce(Self.escaped(root)) { text, step in
            switch step {
            case .key(let key): "\(text).\(Self.escaped(key))"
            case .index(let index): "\(text)[\(index)]"
            case .end: "\(text)[+]"
            }
        }
    }

    /// `["a"]["b"][2]`, which `init` parses alike whatever exists.
    var quotedText: String { ShownText.json(names.map { "[\($0.json)]" }.joined()) }

    /// The text that leads back to the path in these values: `text`, unless other keys could be meant, or a part of it
    /// cannot be seen.
    func text(in values: [String: StoredValue]) -> String {
        let text = text
        let isSeen = names.allSatisfy { $0.string.map { $0.first != " " && $0.last != " " && !$0.isEmpty } ?? true }
        return isSeen && text == text.printable && (try? ValuePath(text, in: values)) == self ? text : quotedText
    }

    /// The path of a new value as a word of a shell.
    var word: String {
        let text = text(in: [:])
        return text.utf8.contains(UInt8(ascii: "'")) ? ShellCommand.text([text]) : "'\(text)'"
    }

    /// The keys and indexes from the top.
    var names: [StoredValue] {
        [.string(root)]
            + steps.map { step in
                switch step {
                case .key(let key): .string(key)
                case .index(let index): StoredValue(index)
                case .end: .string("+")
                }
            }
    }

    /// The innermost key.
    var lastName: String { steps.last { !$0.isIndex }?.name ?? root }

    /// The container that the place is in; nil for an entry at the top.
    var parent: ValuePath? { steps.isEmpty ? nil : ValuePath(root, steps.dropLast()) }

    /// The place up to the first array. The place of an element is not stable, because its index changes with the
    /// elements before it.
    var outsideArrays: ValuePath { ValuePath(root, Array(steps.prefix { !$0.isIndex })) }

    /// Whether the place is below another one.
    func isInside(_ other: ValuePath) -> Bool {
        root == other.root && steps.count > other.steps.count && steps.starts(with: other.steps)
    }

    /// Whether the place is behind the last element of an array in the entry.
    func isAppended(to entry: StoredValue?) -> Bool {
        switch steps.last {
        case .end?: true
        case .index(let index)?: parent?.value(in: entry)?.array?.count == index
        default: false
        }
    }

    /// The steps from a container of the place.
    func inside(_ container: ValuePath) -> ValuePath { ValuePath(root, Array(steps.dropFirst(container.steps.count))) }

    func appending(_ step: Step) -> ValuePath { ValuePath(root, steps + [step]) }

    // MARK: - Values

    /// The value at the place among the entries at the top; nil if it is missing.
    func value(in values: [String: StoredValue]) -> StoredValue? { value(in: values[root]) }

    /// The value at the place inside the entry; nil if it is missing.
    func value(in entry: StoredValue?) -> StoredValue? {
        steps.reduce(entry) { $0?.element($1) }
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
        case .index, .end:
            guard var values = value.map(\.array) ?? [] else {
                throw CommandError("\(place): expected an array, found \(Self.kind(of: value))")
            }
            let index = if case .index(let index) = step { index } else { values.count }
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

    fileprivate static func position(_ index: Int, of count: Int) -> Int? {
        let position = index < 0 ? count + index : index
        return (0..<count).contains(position) ? position : nil
    }

    private static func kind(of value: StoredValue?) -> String {
        value.map { "type \(ValueText.typeName($0))" } ?? "nothing"
    }
}

extension ValuePath.Step {
    var isIndex: Bool { name == nil }
    /// The key; nil for a place in an array.
    var name: String? { if case .key(let name) = self { name } else { nil } }
}

extension StoredValue {
    /// The member or the element at a step; nil if it is missing.
    func element(_ step: ValuePath.Step) -> StoredValue? {
        switch step {
        case .key(let key): dictionary?[key]
        case .index(let index):
            array.flatMap { values in ValuePath.position(index, of: values.count).map { values[$0] } }
        case .end: nil
        }
    }
}

extension Array {
    /// The element at an index; nil if the index is out of bounds.
    subscript(safe index: Int) -> Element? {
        indices.contains(index) ? self[index] : nil
    }
}
