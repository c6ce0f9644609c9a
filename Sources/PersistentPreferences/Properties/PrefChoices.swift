/// Not for use: the argument of ``PrefOption/in(_:)``, which is a range or a list. Its members begin with an underscore, so
/// that this package adds no visible member to ranges and lists.
public protocol _PrefChoices<_PrefChoice> {
    associatedtype _PrefChoice

    /// Not for use.
    func _constraint() -> _PrefConstraint<_PrefChoice>
}

/// Not for use: a constraint, which other modules cannot make.
public struct _PrefConstraint<Value> {
    let constraint: PrefConstraint<Value>

    init(_ constraint: PrefConstraint<Value>) { self.constraint = constraint }

    /// - Parameter choices: the range or the list, for a schema.
    fileprivate init(_ choices: Any, _ words: @escaping () -> String, _ isValid: @escaping (Value) -> Bool) {
        self.init(PrefConstraint(unchecked: words, parts: { [.choices(choices)] }, isValid))
    }
}

extension PrefOption {
    /// A range or a list: `.in(8...72)`, `.in(3...)`, `.in(Theme.allCases)`. A condition of your own is
    /// `.must(be: "even") { … }`.
    public static func `in`<Choices: _PrefChoices>(_ choices: Choices) -> PrefOption
    where Choices._PrefChoice == Value {
        PrefOption { choices._constraint().constraint }
    }

    /// The choices of an optional property, for which nil is valid.
    public static func `in`<Choices: _PrefChoices>(_ choices: Choices) -> PrefOption
    where Value == Choices._PrefChoice? {
        PrefOption { choices._constraint().constraint.ofOptional }
    }

    /// Unavailable: the choices are not a range or a list of values of the property's type.
    @available(
        *, unavailable,
        message: "in takes a range, such as 1...9, or a list, of values of the property's own type"
    )
    @_disfavoredOverload
    public static func `in`<Choices>(_ choices: Choices) -> PrefOption { fatalError("unavailable") }
}

// MARK: - The choices of the standard library, with their words

extension ClosedRange: _PrefChoices {
    /// Not for use.
    public func _constraint() -> _PrefConstraint<Bound> {
        _PrefConstraint(
            self, { "in \(ConstraintValue.text(lowerBound))...\(ConstraintValue.text(upperBound))" }
        ) { contains($0) }
    }
}

extension Range: _PrefChoices {
    /// Not for use.
    public func _constraint() -> _PrefConstraint<Bound> {
        _PrefConstraint(
            self, { "in \(ConstraintValue.text(lowerBound))..<\(ConstraintValue.text(upperBound))" }
        ) { contains($0) }
    }
}

extension PartialRangeFrom: _PrefChoices {
    /// Not for use.
    public func _constraint() -> _PrefConstraint<Bound> {
        _PrefConstraint(self, { "at least \(ConstraintValue.text(lowerBound))" }) { contains($0) }
    }
}

extension PartialRangeThrough: _PrefChoices {
    /// Not for use.
    public func _constraint() -> _PrefConstraint<Bound> {
        _PrefConstraint(self, { "at most \(ConstraintValue.text(upperBound))" }) { contains($0) }
    }
}

extension PartialRangeUpTo: _PrefChoices {
    /// Not for use.
    public func _constraint() -> _PrefConstraint<Bound> {
        _PrefConstraint(self, { "less than \(ConstraintValue.text(upperBound))" }) { contains($0) }
    }
}

extension Array: _PrefChoices where Element: Equatable {
    /// Not for use.
    public func _constraint() -> _PrefConstraint<Element> {
        // `contains` of a generic list costs a program 210,000 instructions at its first use.
        _PrefConstraint(self, { words }) { value in indices.contains { self[$0] == value } }
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
