import Testing

/// Code that must not compile, apart from `@Pref` (`MisuseTests`). Uses the toolchain's own compiler and the built
/// module.
@Suite struct CompileErrorTests {
    private static let declarations: [(code: String, message: String)] = [
        ("final class H: SettingsFile { var h = 1 }", Self.takesNothing),
        ("func j(_ d: PropertyListDictionary) throws { let j: Plain = try d.value(for: Key.k) }", Self.noPropertyList),
        ("struct K { @AppSetting(\"k\") var k = Plain() }", Self.unstorable),
        ("struct L { @AppSetting(\"l\") var l: [Plain]? = nil }", Self.unstorable),
        ("struct M { @AppSetting(\"m\") var m: Int }", Self.noValue),
        ("struct O { @AppSetting(\"o\") var o: Plain? }", Self.unstorable),
        ("struct N: PrefKey { static let defaultValue = Plain() }", Self.unstorable),
        ("struct Q { @AppSetting(\"q\") var q = Object() }", "ambiguous use of 'init(wrappedValue:_:store:didFail:)'"),
        ("struct P: PrefKey { static let defaultValue = Object() }", Self.anObject),
        ("struct R: PrefKey { static let defaultValue: Object? = nil }", Self.anObject),
        ("struct S: PrefKey { static let defaultValue: [Object] = [] }", Self.anObject),
        ("struct T: PrefKey { static let defaultValue: [String: Object] = [:] }", Self.anObject),
        ("struct U: PrefKey { static let defaultValue: Set<Object> = [] }", Self.anObject),
    ]

    private static let unstorable =
        ": a value of this type cannot be stored: make it and what it holds Codable, or give a coding"
    private static let anObject = ": a change inside an object would not be stored: use a struct, or give a coding"
    private static let noValue = "is unavailable: give the property an initial value, which is its default"

    private static let takesNothing = "type 'H' does not conform to protocol 'SettingsFile'"
    private static let noPropertyList =
        "instance method 'value(for:as:)' requires that 'Plain' conform to 'PropertyListValue'"

    private let preamble =
        "import PersistentPreferences; import PrefsKeys; import PrefsSettingsFiles; struct Plain {}; final class Object: Codable, Sendable, Hashable { static func == (a: Object, b: Object) -> Bool { a === b }; func hash(into hasher: inout Hasher) {} }; enum Key: String, PropertyListKey { case k }"

    @Test(.enabled(if: Compiler.canRun))
    func aWrongDeclarationIsACompileErrorWithAMessage() throws {
        let lines = [preamble] + Self.declarations.map(\.code)
        let found = try Compiler.errorsByLine(in: lines.joined(separator: "\n"))
        for (number, declaration) in Self.declarations.enumerated() {
            let messages = found[number + 2] ?? []
            #expect(messages.contains { $0.hasSuffix(declaration.message) }, "\(declaration.code): \(messages)")
        }
        #expect(found[1] == nil)
    }

    /// The format is in another product. The hint does not make it ambiguous where that product is imported.
    @Test(.enabled(if: Compiler.canRun))
    func theFormatXMLSaysWhichProductHasIt() throws {
        let uses = """
            final class A: Prefs, @unchecked Sendable {
                override class var store: PrefsStore { .propertyList(program: "a", format: .xml) }
            }
            let format = FileFormat.xml
            """
        let found = try Compiler.errorsByLine(in: "import PersistentPreferences\n" + uses)
        let hint = "'xml' is unavailable: add the product PrefsDocuments, and import it"
        #expect(found.keys.sorted() == [3, 5], "\(found)")
        #expect(found.values.allSatisfy { $0.count == 1 && $0[0].hasSuffix(hint) }, "\(found)")
        for arguments in [[], ["-enable-upcoming-feature", "MemberImportVisibility"]] {
            let imports = "import PersistentPreferences; import PrefsDocuments; import PrefsSettingsFiles\n"
            let settings = "\nstruct B: SettingsFile { static var settingsFormat: FileFormat { .xml } }\n"
            #expect(try Compiler.complaints(of: imports + uses + settings, arguments) == [])
        }
    }

    @Test(.enabled(if: Compiler.canRun))
    func aSubclassThatDoesNotRestateSendableGetsOneWarning() throws {
        for version in ["5", "6"] {
            let found = try Compiler.complaints(
                of: "import RVS_PersistentPrefs\nclass A: RVS_PersistentPrefs {}\n", ["-swift-version", version])
            let warning = ":2:7: warning: class 'A' must restate inherited '@unchecked Sendable' conformance"
            #expect(found.count == 1 && found.allSatisfy { $0.hasSuffix(warning) }, "Swift \(version): \(found)")
        }
    }

    /// Passes types that hold a value to another task, with a value that is Sendable and with one that is not.
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
