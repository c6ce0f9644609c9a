/// The choices of `@Pref(.in(…))`: a type that decides which values it contains. Ranges, lists and your own types can be
/// choices.
///
/// ```swift
/// struct Even: PrefChoices {
///     func contains(_ value: Int) -> Bool { value.isMultiple(of: 2) }
///     var choicesDescription: String { "even" }
/// }
/// ```
///
/// ``contains(_:)`` is called for each write and each decoded read, on any thread. See ``PrefOption`` for other
/// constraints.
public protocol PrefChoices<PrefChoice>: _PrefChoiceSource where _PrefChoice == PrefChoice {
    /// The type of the values.
    associatedtype PrefChoice

    /// Whether a value is one of the choices. Called on any thread.
    func contains(_ value: PrefChoice) -> Bool

    /// The choices in words that complete "must be": `in 8...72`, `one of 1, 2, 3`.
    var choicesDescription: String { get }
}

extension PrefChoices {
    /// Not for use.
    public func _prefOption() -> PrefOption<PrefChoice> {
        PrefOption { PrefConstraint(unchecked: { choicesDescription }, contains) }
    }
}

/// Not for use: the argument of ``PrefOption/in(_:)``, which is a range, a list or a ``PrefChoices`` type. Its members begin with an
/// underscore, so that this package adds no visible member to ranges and lists.
public protocol _PrefChoiceSource<_PrefChoice> {
    associatedtype _PrefChoice

    /// Not for use.
    func _prefOption() -> PrefOption<_PrefChoice>
}

extension PrefOption {
    /// A range, a list or your own choices: `.in(8...72)`, `.in(3...)`, `.in(Theme.allCases)`.
    public static func `in`<Choices: _PrefChoiceSource>(_ choices: Choices) -> PrefOption
    where Choices._PrefChoice == Value {
        // Made when it is read, because each instance has its own options.
        PrefOption(.constraints { choices._prefOption().constraints })
    }

    /// The choices of an optional property, for which nil is valid.
    public static func `in`<Choices: _PrefChoiceSource>(_ choices: Choices) -> PrefOption
    where Value == Choices._PrefChoice? {
        PrefOption(.constraints { choices._prefOption().constraints.map(\.ofOptional) })
    }

    /// Unavailable: the choices are not a range or a list of values of the property's type.
    @available(
        *, unavailable,
        message: "in takes a range, such as 1...9, a list or a PrefChoices type, of values of the property's own type"
    )
    @_disfavoredOverload
    public static func `in`<Choices>(_ choices: Choices) -> PrefOption { fatalError("unavailable") }
}

// MARK: - The choices of the standard library, with their words

extension ClosedRange: _PrefChoiceSource {
    /// Not for use.
    public func _prefOption() -> PrefOption<Bound> {
        PrefOption(
            choices: self, { "in \(ConstraintValue.text(lowerBound))...\(ConstraintValue.text(upperBound))" }
        ) { contains($0) }
    }
}

extension Range: _PrefChoiceSource {
    /// Not for use.
    public func _prefOption() -> PrefOption<Bound> {
        PrefOption(
            choices: self, { "in \(ConstraintValue.text(lowerBound))..<\(ConstraintValue.text(upperBound))" }
        ) { contains($0) }
    }
}

extension PartialRangeFrom: _PrefChoiceSource {
    /// Not for use.
    public func _prefOption() -> PrefOption<Bound> {
        PrefOption(choices: self, { "at least \(ConstraintValue.text(lowerBound))" }) { contains($0) }
    }
}

extension PartialRangeThrough: _PrefChoiceSource {
    /// Not for use.
    public func _prefOption() -> PrefOption<Bound> {
        PrefOption(choices: self, { "at most \(ConstraintValue.text(upperBound))" }) { contains($0) }
    }
}

extension PartialRangeUpTo: _PrefChoiceSource {
    /// Not for use.
    public func _prefOption() -> PrefOption<Bound> {
        PrefOption(choices: self, { "less than \(ConstraintValue.text(upperBound))" }) { contains($0) }
    }
}

extension Array: _PrefChoiceSource where Element: Equatable {
    /// Not for use.
    public func _prefOption() -> PrefOption<Element> {
        // `contains` of a generic list costs a program 210,000 instructions at its first use.
        PrefOption(choices: self, { words }) { value in indices.contains { self[$0] == value } }
    }

    /// `one of light, dark`; texts that would be misread are in quotes.
    private var words: String {
        if isEmpty { return "one of an empty list" }
        let texts = map { element in
            let text = ConstraintValue.text(element)
            return text.isEmpty || text.contains(",") ? "\"\(text)\"" : text
        }
        return "one of " + texts.joined(separator: ", ")
    }
}

extension PrefOption {
    /// - Parameter choices: the range or the list, for a schema.
    fileprivate init(choices: Any, _ words: @escaping () -> String, _ isValid: @escaping (Value) -> Bool) {
        self.init { PrefConstraint(unchecked: words, parts: { [.choices(choices)] }, isValid) }
    }
}

/// Values in the words of a constraint.
enum ConstraintValue {
    /// The description of the value. For a type that does not describe itself, its raw value, because that is stored.
    static func text(_ value: some Any) -> String {
        guard !(value is any CustomStringConvertible), let value = value as? any RawRepresentable else {
            return "\(value)"
        }
        return "\(value.rawValue)"
    }
}
