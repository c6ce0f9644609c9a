import PrefsPropertyLists

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
            fatalError("PrefConstraint.pattern: \"\(pattern)\" is not a regular expression: \(error)")
        }
        // The first match compiles the program.
        _ = matches("")
    }

    package func matches(_ text: String) -> Bool {
        (try? regex.wholeMatch(in: text)) != nil
    }
}
