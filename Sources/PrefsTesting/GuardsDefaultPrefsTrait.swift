public import Testing

/// Reports the first access to the default domain: the preferences of the user who runs the tests.
///
/// ```swift
/// @Suite(.guardsDefaultPrefs) struct ParserTests {}
/// ```
///
/// ## Behavior
/// If one test or suite of a test program names this trait or ``InMemoryPrefsTrait``, all tests of the program are
/// watched, from the first one on. The first access of the process to the standard domain is a warning of the test
/// that makes it. Outside of a test's task, or with a compiler older than 6.3, it is a line on standard error.
/// The access itself succeeds.
public struct GuardsDefaultPrefsTrait: TestTrait, SuiteTrait {}

extension Trait where Self == GuardsDefaultPrefsTrait {
    /// Reports the first access to the default domain. See ``GuardsDefaultPrefsTrait``.
    public static var guardsDefaultPrefs: Self {
        TestRun.watch()
        return Self()
    }
}
