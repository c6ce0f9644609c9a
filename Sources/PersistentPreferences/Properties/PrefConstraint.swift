import PrefsPropertyLists

/// What the values of a property must be, as a ``PrefOption`` says it. A value is valid if it satisfies every constraint of its
/// property.
///
/// Each write and each decoded read checks the value, on its own thread.
package struct PrefConstraint<Value>: @unchecked Sendable, CustomStringConvertible {
    // Unchecked because ranges, lists and choices need not be Sendable. They are only read.
    private let words: () -> String
    /// The verb after "must", which the words complete.
    private let verb: ConstraintVerb
    /// Whether `violation` returns the developer's reason instead of the words.
    private let hasOwnReasons: Bool
    /// Why a value is rejected, beginning with "must"; nil for a valid value.
    package let violation: (Value) -> String?
    /// What the constraint was made from, as far as a schema can express it. Evaluated only for a schema, because each
    /// instance makes its constraints.
    package let parts: () -> [ConstraintPart]

    /// - Parameters:
    ///   - words: complete "must be" or "must have". Evaluated only when they are read.
    ///   - isValid: whether a value satisfies the constraint. Called on any thread.
    init(
        unchecked words: @escaping () -> String, verb: ConstraintVerb = .be,
        parts: @escaping () -> [ConstraintPart] = { [] },
        _ isValid: @escaping (Value) -> Bool
    ) {
        self.init(words: words, verb: verb, hasOwnReasons: false, parts: parts) {
            isValid($0) ? nil : "must \(verb) \(Self.text(words))"
        }
    }

    private init(
        words: @escaping () -> String, verb: ConstraintVerb = .be, hasOwnReasons: Bool,
        parts: @escaping () -> [ConstraintPart] = { [] }, violation: @escaping (Value) -> String?
    ) {
        self.parts = parts
        self.words = words
        self.verb = verb
        self.hasOwnReasons = hasOwnReasons
        self.violation = violation
    }

    /// The constraint in words that complete "must be" or "must have": `in 8...72`, `at most 5 elements`.
    package var description: String { Self.text(words) }

    /// The whole requirement: `must be in 8...72`.
    package var requirement: String { "must \(verb) \(self)" }

    /// The values of the first list; nil if the constraint has no list.
    package var listed: [Value]? {
        for case .choices(let choices) in parts() {
            if let list = choices as? [Value] { return list }
        }
        return nil
    }

    private static func text(_ words: () -> String) -> String {
        let words = words()
        return words.isEmpty ? wordsOfCheck : words
    }

    private static var wordsOfCheck: String { "accepted by a check" }

    // MARK: - Combining

    /// Combines constraints to one. An error gives the words of all constraints; a check gives its own reason.
    static func all(_ constraints: [PrefConstraint]) -> PrefConstraint {
        if constraints.count == 1 { return constraints[0] }
        let stated = constraints.filter { !$0.hasOwnReasons }
        return PrefConstraint(
            words: { words(of: constraints) }, hasOwnReasons: false, parts: { constraints.flatMap { $0.parts() } }
        ) { value in
            for constraint in constraints {
                guard let reason = constraint.violation(value) else { continue }
                return constraint.hasOwnReasons ? reason : requirement(of: stated)
            }
            return nil
        }
    }

    private static func words(of constraints: [PrefConstraint]) -> String {
        constraints.map(\.description).joined(separator: " and ")
    }

    /// `must be in 8...72 and even`, `must have at most 5 elements and be sorted`.
    private static func requirement(of constraints: [PrefConstraint]) -> String {
        var verb: ConstraintVerb?
        let parts = constraints.map { constraint in
            defer { verb = constraint.verb }
            return constraint.verb == verb ? "\(constraint)" : "\(constraint.verb) \(constraint)"
        }
        return "must " + parts.joined(separator: " and ")
    }

    /// This constraint for optional values; nil is valid.
    var ofOptional: PrefConstraint<Value?> {
        PrefConstraint<Value?>(
            words: words, verb: verb, hasOwnReasons: hasOwnReasons, parts: parts
        ) { [violation] in $0.flatMap(violation) }
    }

    /// A check that words its own errors. Called with values that satisfy the constraints.
    static func check(_ check: @escaping @Sendable (Value) -> String?) -> PrefConstraint {
        PrefConstraint(words: { wordsOfCheck }, hasOwnReasons: true) { value in
            check(value).map { $0.isEmpty ? "must be \(wordsOfCheck)" : $0 }
        }
    }
}

/// The argument of a constraint.
package enum ConstraintPart {
    /// A range or a list.
    case choices(Any)
    /// The number of characters, or of elements.
    case length(any RangeExpression<Int>), count(any RangeExpression<Int>)
    /// A regular expression that a whole text must match.
    case pattern(String)
}

/// "must be in 8...72", "must have at most 5 elements".
enum ConstraintVerb { case be, have }

/// Numbers of elements in the words of a constraint.
enum CountWords {
    /// `8...72 characters`, `at least 1 character`.
    static func amount(_ range: some RangeExpression<Int>, of unit: String) -> String {
        let amount =
            switch range {
            case let range as PartialRangeFrom<Int>: "at least \(range.lowerBound)"
            case let range as PartialRangeThrough<Int>: "at most \(range.upperBound)"
            case let range as PartialRangeUpTo<Int>: "fewer than \(range.upperBound)"
            default: "\(range)"
            }
        return "\(amount) \(unit)\(amount.hasSuffix(" 1") ? "" : "s")"
    }
}

/// A regular expression that a whole text must match.
///
/// Unchecked because `Regex` does not say that it is Sendable. Matching does not change it: its program is compiled
/// here, before another thread has it.
package final class TextPattern: @unchecked Sendable {
    private let regex: Regex<AnyRegexOutput>

    private static let known = Locked([String: TextPattern]())

    /// The compiled pattern, which is kept, because every instance of a class evaluates its declarations. Patterns are
    /// constants of the program, so there are few.
    package static func compiled(_ pattern: String) -> TextPattern {
        if let found = known.withLock({ $0[pattern] }) { return found }
        let new = TextPattern(pattern)
        known.withLock { $0[pattern] = new }
        return new
    }

    private init(_ pattern: String) {
        do {
            regex = try Regex(pattern)
        } catch {
            fatalError("PrefOption.pattern: \"\(pattern)\" is not a regular expression: \(error)")
        }
        // The first match compiles the program.
        _ = matches("")
    }

    package func matches(_ text: String) -> Bool {
        (try? regex.wholeMatch(in: text)) != nil
    }
}
