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
/// ``contains(_:)`` is called for each write and each decoded read, on any thread. See ``PrefConstraint`` for other
/// kinds.
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
    public func _prefConstraint() -> PrefConstraint<PrefChoice> {
        PrefConstraint(unchecked: { choicesDescription }, contains)
    }
}

/// Not for use: the argument of ``PrefOption/in(_:)``, which is a range, a list or a ``PrefChoices`` type. Its members begin with an
/// underscore, so that this package adds no visible member to ranges and lists.
public protocol _PrefChoiceSource<_PrefChoice> {
    associatedtype _PrefChoice

    /// Not for use.
    func _prefConstraint() -> PrefConstraint<_PrefChoice>
}
