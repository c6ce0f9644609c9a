import PrefsPropertyLists

/// A part of the declaration of a property, besides its default.
///
/// ```swift
/// final class EditorPrefs: Prefs, @unchecked Sendable {
///     @Pref("size", .in(8...72), .help("In points")) var fontSize = 12.0
///     @Pref(.length(1...20), .pattern("[a-z]+")) var name: String? = nil
/// }
/// ```
///
/// A text is the key that the value is stored under; without one, the key is the property's name. The options may come
/// in any order. Constraints hold for every write and every decoded read: every write path rejects other values, and a
/// stored value that violates them is kept and reads as the default. An optional that is nil satisfies all of them; only its
/// checks are asked about nil. Your own kind of constraint is a static function, and another one in `PrefOption<Int?>` for
/// optionals:
///
/// ```swift
/// extension PrefOption<Int> {
///     static func multiple(of number: Int) -> PrefOption {
///         .must(be: "a multiple of \(number)") { $0.isMultiple(of: number) }
///     }
/// }
/// ```
public struct PrefOption<Value>: ExpressibleByStringLiteral {
    enum Part {
        case key(String)
        case formerKeys([String])
        case constraint(() -> PrefConstraint<Value>)
        case check(@Sendable (Value) -> String?)
        indirect case coding(PrefCoding<Value>)
        case sensitive
        case required
        case merged
        case help(String)
    }

    let part: Part

    init(_ part: Part) { self.part = part }

    /// - Parameter make: each instance makes its constraints, because they need not be Sendable.
    init(_ make: @escaping () -> PrefConstraint<Value>) { self.init(.constraint(make)) }

    /// The key that the value is stored under: `@Pref("Has Widgets")`.
    public init(stringLiteral key: String) { self.init(.key(key)) }

    /// The key that the value is stored under, if it is not a literal.
    public static func key(_ key: String) -> PrefOption { PrefOption(.key(key)) }

    /// The keys of former versions of the program. If the key is absent, a read finds the value under a former key. The
    /// first write to the root moves it, for every class that shares the root.
    public static func formerly(_ keys: String...) -> PrefOption { PrefOption(.formerKeys(keys)) }

    /// A condition in your own words, which complete "must be": `.must(be: "even") { $0.isMultiple(of: 2) }`.
    ///
    /// - Parameters:
    ///   - words: evaluated only when they are read.
    ///   - isValid: whether a value satisfies the constraint. Called on any thread. For an optional property it gets the
    ///     wrapped value, and nil is valid; with ``required``, ``PersistentPrefs/problems()`` names a missing value.
    public static func must(
        be words: @autoclosure @escaping @Sendable () -> String, _ isValid: @escaping @Sendable (Value) -> Bool
    ) -> PrefOption {
        PrefOption { PrefConstraint(unchecked: words, isValid) }
    }

    /// A condition on an optional property; nil is valid.
    public static func must<Wrapped>(
        be words: @autoclosure @escaping @Sendable () -> String, _ isValid: @escaping @Sendable (Wrapped) -> Bool
    ) -> PrefOption where Value == Wrapped? {
        PrefOption { PrefConstraint(unchecked: words, isValid).ofOptional }
    }

    /// A check that words its own errors: `.check { $0.isEmpty ? "must not be empty" : nil }`.
    ///
    /// - Parameter check: returns why a value is rejected, beginning with "must", or nil for a valid value. Called on
    ///   any thread, with values that satisfy the constraints. The check of an optional property also gets nil.
    public static func check(_ check: @escaping @Sendable (Value) -> String?) -> PrefOption {
        PrefOption(.check(check))
    }

    /// Hides the value and its default in errors, descriptions, schemas and the tool's commands on the class. The file,
    /// ``PersistentPrefs/values``, ``PersistentPrefs/exported(as:)`` and the tool's commands on a domain contain it. A
    /// keychain is safer. Your checks must not quote it.
    public static var sensitive: PrefOption { PrefOption(.sensitive) }

    /// The option of another product: the fields of a struct are values of their own.
    package static var mergedFields: PrefOption { PrefOption(.merged) }

    /// Unavailable: a value that is not optional is never missing.
    @available(*, unavailable, message: "only an optional can be required; another property always has a value")
    @_disfavoredOverload public static var required: PrefOption { fatalError("unavailable") }

    /// One sentence for people, for the description of the property, a schema and tools. Never stored.
    public static func help(_ text: String) -> PrefOption { PrefOption(.help(text)) }
}

extension PrefOption where Value: ExpressibleByNilLiteral {
    /// Says that an optional must get a value: `@Pref(.required) var token: String?`.
    ///
    /// If nothing has set a value, ``PersistentPrefs/problems()`` says so, with the argument and the variable of the program
    /// that set it, and ``PersistentPrefs/onError(_:)`` gives it once. The property is nil. No access fails or costs more.
    public static var required: PrefOption { PrefOption(.required) }
}

// MARK: - Texts and collections

/// Not for use: `String` and `String?`.
public protocol _PrefText {
    /// Not for use.
    static func _constraint(_ constraint: _PrefConstraint<String>) -> _PrefConstraint<Self>
}

extension String: _PrefText {
    /// Not for use.
    public static func _constraint(_ constraint: _PrefConstraint<String>) -> _PrefConstraint<String> { constraint }
}

extension Optional: _PrefText where Wrapped == String {
    /// Not for use.
    public static func _constraint(_ constraint: _PrefConstraint<String>) -> _PrefConstraint<String?> {
        _PrefConstraint(constraint.constraint.ofOptional)
    }
}

extension PrefOption where Value: _PrefText {
    /// The number of characters: `.length(1...20)`, `.length(1...)`. For an optional, nil is valid.
    public static func length(_ range: some RangeExpression<Int>) -> PrefOption {
        text({ CountWords.amount(range, of: "character") + " long" }, .length(range)) { range.contains($0.count) }
    }

    /// A regular expression that matches the whole text, in the syntax of `Regex`: `.pattern("[a-z]+")`. For an optional,
    /// nil is valid.
    ///
    /// A pattern that is not a regular expression stops the program. Each pattern is compiled once per process. `Regex`
    /// backtracks, and another program may have stored any text: use a pattern without nested repetition.
    public static func pattern(_ pattern: String) -> PrefOption {
        let compiled = TextPattern.compiled(pattern)
        return text({ "of the form \(pattern)" }, .pattern(pattern)) { compiled.matches($0) }
    }

    private static func text(
        _ words: @escaping () -> String, _ part: @autoclosure @escaping () -> ConstraintPart,
        _ isValid: @escaping (String) -> Bool
    ) -> PrefOption {
        PrefOption {
            Value._constraint(.init(PrefConstraint(unchecked: words, parts: { [part()] }, isValid))).constraint
        }
    }
}

extension PrefOption {
    /// The number of elements: `.count(1...5)`, `.count(...100)`.
    public static func count(_ range: some RangeExpression<Int>) -> PrefOption where Value: Collection {
        PrefOption { PrefConstraint(count: range) }
    }

    /// The number of elements of an optional; nil is valid.
    public static func count<Elements: Collection>(_ range: some RangeExpression<Int>) -> PrefOption
    where Value == Elements? {
        PrefOption { PrefConstraint<Elements>(count: range).ofOptional }
    }
}

extension PrefConstraint where Value: Collection {
    fileprivate init(count range: some RangeExpression<Int>) {
        self.init(unchecked: { CountWords.amount(range, of: "element") }, verb: .have, parts: { [.count(range)] }) {
            range.contains($0.count)
        }
    }
}

// MARK: - For other types: compiler errors

extension PrefOption {
    /// Unavailable: the property is not a text.
    @available(*, unavailable, message: "length is for String and String?; count is for collections")
    @_disfavoredOverload
    public static func length(_ range: some RangeExpression<Int>) -> PrefOption { fatalError("unavailable") }

    /// Unavailable: the property is not a text.
    @available(*, unavailable, message: "pattern is for String and String?")
    @_disfavoredOverload
    public static func pattern(_ pattern: String) -> PrefOption { fatalError("unavailable") }
}
