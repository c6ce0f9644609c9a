import Foundation
import Testing

/// The exact errors of the toolchain's own compiler for wrong declarations.
@Suite(.enabled(if: Compiler.canRun))
struct MisuseTests {
    struct Misuse: Sendable, CustomTestStringConvertible {
        let code: String
        /// The end of each error, in the order of the source.
        let errors: [String]

        init(_ code: String, _ errors: String...) {
            self.code = code
            self.errors = errors
        }

        var testDescription: String { code }
    }

    private static let unstorable =
        "is unavailable: a value of this type cannot be stored: make it and what it holds Codable, or give a coding"
    private static let otherType =
        "is unavailable: in takes a range, such as 1...9, or a list, of values of the property's own type"
    private static let noText = "is unavailable: length is for String and String?; count is for collections"
    private static let noValue = "is unavailable: give the property an initial value, which is its default"
    private static let notOptional =
        "is unavailable: only an optional can be required; another property always has a value"
    /// Below this error, the compiler prints our lines that say what to do.
    private static let anObject = "ambiguous use of 'init'"
    private static let anObjectWithArguments = "ambiguous use of 'init(wrappedValue:_:)'"
    private static let misplaced = "'wrappedValue' is unavailable: @Pref works in subclasses of PersistentPrefs only"

    private static let nothing = "PrefCoding(encode: { _ in nil }, decode: { _ in nil })"

    /// Lines of a class. A warning counts as an error. A line has two errors if the compiler checks two things
    /// independently.
    static let properties = [
        Misuse("@Pref(.in(8.0...72.0)) var x: Int = 12", otherType),
        Misuse("@Pref(\"k\", .in(0.5...2), .formerly(\"o\")) var x: Int? = nil", otherType),
        Misuse("@Pref(.in([1, 2])) var x = \"a\"", otherType),
        Misuse("@Pref(.in([\"a\"])) var x: Int? = 3", otherType),
        Misuse("@Pref(.in(1)) var x = 1", otherType),
        Misuse("@Pref(.in([Plain()])) var x = Plain()", otherType, unstorable),
        Misuse("@Pref(.in(1...3), .check { _ in nil }) var x = \"a\"", otherType),
        Misuse("@Pref(.in(0.5...)) var x: Int? = nil", otherType),
        Misuse("@Pref var x = Stored()", anObject),
        Misuse("@Pref(\"k\", .formerly(\"o\")) var x = Stored()", anObjectWithArguments),
        Misuse("@Pref(.check { _ in nil }) var x = Stored()", anObjectWithArguments),
        Misuse("@Pref(.in([Ordered()])) var x = Ordered()", anObjectWithArguments),
        Misuse("@Pref(.in(Ordered()...Ordered())) var x = Ordered()", anObjectWithArguments),
        Misuse(
            "@Pref(.must(be: \"kept\") { _ in true }, .check { _ in nil }) var x = Ordered()", anObjectWithArguments),
        Misuse("@Pref var x = Object()", unstorable),
        Misuse("@Pref var x: () -> Void = {}", unstorable),
        Misuse("@Pref var x = (1, 2)", unstorable),
        Misuse("@Pref var x = Plain()", unstorable),
        Misuse("@Pref(\"k\", .formerly(\"o\")) var x: Plain? = nil", unstorable),
        Misuse("@Pref(.check { _ in nil }) var x: [Plain] = []", unstorable),
        Misuse("@Pref var x: [String: [Theme]] = [:]", unstorable),
        Misuse("@Pref var x: [[Theme]]? = nil", unstorable),
        Misuse("@Pref var x: [[String: Any]] = []", unstorable),
        Misuse("@Pref var x: Any? = nil", unstorable),
        Misuse("@Pref(.in(1...2)) var x = Theme.light", otherType),
        Misuse("@Pref(.length(1...2)) var x = 1", noText),
        Misuse("@Pref(.length(1...2)) var x: [String]? = nil", noText),
        Misuse("@Pref(.pattern(\"a\")) var x = Theme.light", "is unavailable: pattern is for String and String?"),
        Misuse("@Pref var x: Int", ".A' has no initializers"),
        Misuse("@Pref() var x: Int", noValue),
        Misuse("@Pref(\"k\") var x: Plain?", noValue),
        Misuse("@Pref(.required) var x: Int = 1", notOptional),
        Misuse("@Pref(\"k\", .required, .help(\"h\")) var x: Int = 1", notOptional),
        Misuse("@Pref(.in(1...2)) var x: Int", noValue),
        Misuse("@Pref(.check { _ in nil }) var x: Int", noValue),
        Misuse("@Pref(.must(be: \"even\") { _ in true }) var x: Int", noValue),
        Misuse("@Pref(coding: PrefCoding<Int>(encode: { $0 }, decode: { $0 as? Int })) var x: Int", noValue),
        Misuse("@Pref(key: \"b\") var x = 1", "give the key without a label: @Pref(\"key\")"),
        Misuse("@Pref let x = 1", "property wrapper can only be applied to a 'var'"),
        Misuse(
            "@Pref static var x = 1", misplaced,
            "static property 'x' is not concurrency-safe because it is nonisolated global shared mutable state"
        ),
        // Valid declarations, for example literals that get their type from the range.
        Misuse("@Pref(.in(8.0...72.0)) var x = 12; func f() -> Double { x }"),
        Misuse("@Pref(.in(8...72)) var x = 12.5; @Pref var y: Int?"),
        Misuse("@Pref(.in([.light])) var x: Theme? = nil; @Pref(.in(Theme.allCases)) var y = Theme.dark"),
        Misuse("@Pref var x: [Theme]? = nil; @Pref var y: [String: Theme]? = [:]; @Pref var z: Set<Theme> = []"),
        Misuse("@Pref var x: Theme?? = nil; @Pref var y: [Any]? = nil; @Pref var z: [String: Any]? = nil"),
        Misuse(
            "@Pref(.must(be: \"even\") { $0.isMultiple(of: 2) }) var x: Int? = nil; @Pref(.must(be: \"even\") { $0.isMultiple(of: 2) }) var y = 2"
        ),
        Misuse("@Pref(.in(1..<3)) var x = 2.5; @Pref(.in(1...)) var y = 2; @Pref(.in(..<3)) var z: Double? = 2"),
        Misuse(
            "@Pref(.in(1...3), .check { _ in nil }) var x = 2; @Pref(.in([1]), .check { _ in nil }) var y: Int? = nil"),
        Misuse("@Pref(.length(1...20), .pattern(\"[a-z]+\")) var x: String? = nil"),
        Misuse("@Pref(.required) var x: Int?; @Pref(.in(1...2), .required) var y: Int?; @Pref(\"k\") var z: Window?"),
        Misuse(
            "@Pref(.required) var x: Theme?; @Pref(.required) var y: [Theme]? = nil; @Pref(.help(\"h\")) var z: Date?"),
        Misuse("@Pref var x: Stored? = nil; @Pref var y: [Stored] = []; @Pref(coding: \(nothing)) var z = Stored()"),
        Misuse("@Pref var x = 12; @Pref(\"k\") var y = false; @Pref var z = \"t\"; @Pref(.in(0.0...1.0)) var a = 0.5"),
        Misuse("@Pref(.check { $0.isEmpty ? \"a\" : nil }) var x = \"b\"; @Pref(.in([\"de\", \"en\"])) var y = \"en\""),
        Misuse("@Pref var x = Date(timeIntervalSince1970: 0); @Pref var y = Data(); @Pref var z: Decimal = 1"),
        Misuse("@Pref var x = [1, 2, 3]; @Pref var y: [String: Double] = [\"a\": 1, \"b\": 2.5]"),
        Misuse("@Pref var x: [String] = []; @Pref var y: Set = [\"a\"]; @Pref var z: [Theme] = [.light, .dark]"),
        Misuse("@Pref var x = Window(); @Pref(.formerly(\"o\")) var y = [Window(), Window()]"),
        Misuse("@Pref var x: Flags = [.a, .b]; @Pref(.in([.light, .dark])) var y: Theme = .dark"),
        Misuse("@Pref var x = URL(filePath: \"/tmp\"); @Pref var y: URL? = nil; @Pref var z: [String: Any] = [:]"),
    ]

    /// The errors of each property, in the order of `properties`. All lines are compiled at once, because starting the
    /// compiler costs more than the checks.
    private static let errorsOfProperties = Result { try Compiler.errorsByLine(in: source(of: properties)) }

    /// A line of declarations, then a line for each property.
    private static func source(of properties: [Misuse]) -> String {
        let preamble =
            "import Foundation; import PersistentPreferences; struct Plain {}; class Object {}; "
            + "struct Window: Codable { var width = 800 }; final class Stored: Codable {}; "
            + "struct Flags: OptionSet { let rawValue: Int; static let a = Self(rawValue: 1), b = Self(rawValue: 2) }; "
            + "final class Ordered: Codable, Comparable, Sendable { static func < (a: Ordered, b: Ordered) -> Bool { false }; "
            + "static func == (a: Ordered, b: Ordered) -> Bool { true } }; "
            + "enum Theme: String, CaseIterable { case light, dark }\n"
        let lines = properties.enumerated().map { number, misuse in
            "enum Place\(number) { final class A: Prefs, @unchecked Sendable { \(misuse.code) } }"
        }
        return preamble + lines.joined(separator: "\n")
    }

    @Test(arguments: properties.indices) func aWrongPropertyHasOneErrorThatSaysWhatToDo(_ number: Int) throws {
        let found = try Self.errorsOfProperties.get()[number + 2] ?? []
        let expected = Self.properties[number].errors
        #expect(found.count == expected.count, "\(found)")
        for (found, end) in zip(found.sorted(), expected) { #expect(found.hasSuffix(end)) }
    }

    /// The error says that the declaration is ambiguous; the lines below it say what to do.
    @Test(arguments: ["@Pref", "@Pref(.in([A()]))", "@AppSetting(\"k\")"]) func aClassIsTold(_ wrapper: String) throws {
        let text = try Compiler.output(
            of: "import PersistentPreferences; import PrefsKeys\nfinal class A: Codable, Equatable, Sendable { "
                + "static func == (a: A, b: A) -> Bool { true } }\n"
                + "final class P: Prefs, @unchecked Sendable { \(wrapper) var x = A() }\n"
        ).text
        #expect(text.contains("ambiguous use of 'init") && text.contains("a Codable class"), "\(text)")
    }

    @Test func noErrorIsWithoutAProperty() throws {
        let lines = try Self.errorsOfProperties.get().keys
        #expect(lines.allSatisfy { Self.properties.indices.contains($0 - 2) }, "\(lines)")
    }

    /// Autocompletion of a client must show no member of this package in types of the standard library.
    @Test func noTypeOfTheStandardLibraryHasTheMembersOfChoices() throws {
        let values = ["[1]", "(1...2)", "[Int].self", "ClosedRange<Int>.self", "Int?.none", "[\"a\": 1]", "Set([1])"]
        let names = ["choicesDescription", "PrefChoice", "_PrefContent"]
        let lines = values.flatMap { value in names.map { "func f() { _ = \(value).\($0) }" } }
        let found = try Compiler.errorsByLine(in: "import PersistentPreferences\n" + lines.joined(separator: "\n"))
        for number in lines.indices {
            let hasNoMember = found[number + 2]?.contains { $0.contains("has no member") } ?? false
            #expect(hasNoMember, "\(lines[number])")
        }
    }

    @Test(arguments: [
        "struct A { @Pref var x = 1 }", "class A { @Pref var x = 1 }", "actor A { @Pref var x = 1 }",
        "func f() -> Int { @Pref var x = 1; return x }", "class A: NSObject { @Pref var x: Int? = nil }",
        "class A { @Pref(\"k\", .in(1...9), .formerly(\"o\")) var x = 1; func f() { $x.reset() } }",
        "class A { @Pref(.length(1...), .check { _ in nil }) var x = \"a\" }",
        "class A { @Pref(coding: PrefCoding<Int>(encode: { $0 }, decode: { $0 as? Int })) var x = 1 }",
        // Inside a subclass, `Pref` names the member.
        "class A: PersistentPrefs, @unchecked Sendable { struct B { @Pref var x = 1 } }",
    ])
    func aPropertyElsewhereIsOneErrorAtItsLine(_ code: String) throws {
        let source = "import Foundation\nimport PersistentPreferences\n\n\(code)"
        let found = try Compiler.errorsByLine(in: source, ["-emit-silgen"])
        #expect(found.keys.sorted() == [4] && found[4]?.count == 1, "\(found)")
        let message = found[4]?.first ?? ""
        #expect(message.hasSuffix(" is unavailable: @Pref works in subclasses of PersistentPrefs only"), "\(message)")
    }

    /// In a module of the main actor, a type without a stated isolation can be a value. Only its initializer cannot be
    /// called by the class, which is nonisolated.
    @Test(arguments: [Compiler.Isolation.mainActor, .approachable])
    func aValueOfTheMainActorIsMadeOnTheMainActor(_ isolation: Compiler.Isolation) throws {
        let preamble = """
            import PersistentPreferences
            enum Theme: String, Codable, CaseIterable { case light, dark }
            struct Window: Codable, Equatable { var width = 800 }
            struct Flags: OptionSet { let rawValue: Int }
            """
        let declarations = [
            "@Pref var x = Theme.light", "@Pref(.in(Theme.allCases)) var x = Theme.dark",
            "@Pref var x: [Theme] = [.light]",
            "@Pref var x: Window? = nil", "@Pref var x: Window?", "@Pref var x: [Window] = []",
            "@Pref var x: [String: [Window]] = [:]", "@Pref var x: Flags? = nil",
            "struct Own: Codable {}; @Pref var x = Own()",
        ]
        let lines = (declarations + ["@Pref var x = Window()"]).enumerated().map { number, declaration in
            "final class A\(number): Prefs, @unchecked Sendable { \(declaration) }"
        }
        let found = try Compiler.errorsByLine(in: (lines + [preamble]).joined(separator: "\n"), isolation.arguments)
        #expect(found == [lines.count: ["main actor-isolated default value in a nonisolated context"]])
    }

    /// The compiler's solver makes at most 80 attempts for a property. The limit is a count, so it holds on every
    /// machine.
    @Test func propertiesOfMixedTypesAreCheckedInFewAttempts() throws {
        let valid = Self.properties.filter(\.errors.isEmpty)
        func errors(_ limit: Int) throws -> [Int: [String]] {
            try Compiler.errorsByLine(in: Self.source(of: valid), ["-Xfrontend", "-solver-scope-threshold=\(limit)"])
        }
        #expect(try errors(80) == [:])
        // A lower limit is exceeded, so the flag has an effect.
        let few = try errors(2).keys
        #expect(valid.indices.allSatisfy { few.contains($0 + 2) }, "\(few)")
    }
}
