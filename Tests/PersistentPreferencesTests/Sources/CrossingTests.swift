import Testing

/// A type that holds a value can be passed to another task only if the value can. Uses the toolchain's own compiler.
@Suite struct CrossingTests {
    /// Passes types to another task, with a value that is Sendable and with one that is not.
    @Test(
        .enabled(if: Compiler.canRun),
        arguments: [
            "AppSetting(\\AppSettingsValues.NAME)", "prefs.$NAME", "prefs.$NAME.updates",
            "PrefCoding<TYPE>(encode: { _ in nil }, decode: { _ in nil })",
            "PersistentPrefs.Pref(wrappedValue: TYPE(), coding: PrefCoding<TYPE>(encode: { _ in nil }, decode: { _ in nil }))",
        ])
    func whatHoldsValuesCrossesToAnotherTaskOnlyIfTheyAreSendable(_ expression: String) throws {
        func complaints(_ name: String, _ type: String) throws -> [String] {
            let crossing = expression.replacing("NAME", with: name).replacing("TYPE", with: type)
            return try Compiler.complaints(
                of: """
                    import PersistentPreferences
                    import PrefsKeys
                    final class Thing: Codable { var number = 0 }
                    final class A: Prefs, @unchecked Sendable { @Pref(coding: coding()) var thing = Thing(); @Pref var number = Int() }
                    func coding() -> PrefCoding<Thing> { PrefCoding(encode: { _ in nil }, decode: { _ in nil }) }
                    extension AppSettingsValues { var thing: Thing { get { Thing() } set {} } }
                    extension AppSettingsValues { var number: Int { get { 1 } set {} } }
                    func need(_ value: some Sendable) {}
                    func cross(_ prefs: A) { need(\(crossing)) }
                    """, ["-swift-version", "6"])
        }
        #expect(try complaints("number", "Int") == [])
        let errors = try complaints("thing", "Thing")
        #expect(
            errors.contains { $0.contains(":9:") && $0.contains("error:") && $0.contains("'Sendable'") }, "\(errors)")
    }
}
