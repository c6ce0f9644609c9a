import PersistentPreferences

/// A check of one rule of ``PrefsBackend``.
///
/// A test runs all of them over your backend in one line:
///
/// ```swift
/// @Test(arguments: StoreCheck.all)
/// func myBackendConforms(_ check: StoreCheck) throws {
///     let place = Place()
///     try check.run { MyBackend(place) }
/// }
/// ```
///
/// ## Behavior
/// A check uses only the methods of the backend, so it may be slow or on another machine. A check never sleeps. An
/// error names the rule, what was expected and what was found. If nested accesses of your backend block, the check
/// does not end, so give the suite `.serialized` and the test a `.timeLimit`.
///
/// ## Threads
/// `run` blocks its thread, and starts others for some checks.
public struct StoreCheck: Sendable, Identifiable, CustomStringConvertible {
    /// A name for reports and filters, such as `nilRemoves`. By it, Swift Testing runs one check again.
    public let id: String
    /// The rule, in one sentence.
    let rule: String
    private let body: @Sendable (CheckedPlace) throws -> Void

    /// The ``id``.
    public var description: String { id }

    init(_ id: String, _ rule: String, _ body: @escaping @Sendable (CheckedPlace) throws -> Void) {
        self.id = id
        self.rule = rule
        self.body = body
    }

    /// Checks the rule. Costs from two to `threads` × `updates` updates.
    ///
    /// - Parameters:
    ///   - threads: the number of threads that use the backend at once.
    ///   - updates: the number of updates of each thread. Lower both for a slow backend.
    ///   - patience: the seconds after which a missing call of an observer is an error. Only a backend that fails
    ///     takes so long.
    ///   - makeBackend: returns a backend on one place, empty at first. Each call may return another object for the same
    ///     place. Checks that run at once need one place each.
    /// - Throws: an error whose text is the name of the check, its rule, and what was expected and found; or an error of the
    ///   backend.
    public func run(
        threads: Int = 8, updates: Int = 100, patience: Int = 60,
        _ makeBackend: @escaping @Sendable () throws -> any PrefsBackend
    ) throws {
        let place = try CheckedPlace(makeBackend, threads: threads, updates: updates, patience: patience)
        do {
            try body(place)
        } catch let finding as CheckedPlace.Finding {
            throw Violation(check: self, finding: finding.description)
        }
    }

    /// A behavior of a backend that the contract does not allow.
    private struct Violation: Error, CustomStringConvertible {
        let check: StoreCheck
        /// What was expected and what was found.
        let finding: String

        var description: String { "\(check.id): \(check.rule) \(finding)" }
    }
}
