/// A class with properties of mixed types.
enum ManyProperties {
    static let source = """
        import Foundation
        import PersistentPreferences

        enum Theme: String, CaseIterable { case light, dark }
        enum Level: Int, Codable { case low = 1, high }
        struct Window: Codable, Equatable { var width = 800; var title: String? }
        struct Options: OptionSet { let rawValue: Int; static let a = Self(rawValue: 1), b = Self(rawValue: 2) }

        final class Many: Prefs, @unchecked Sendable {
        \(kinds.enumerated().map { "    " + $1.replacing("#", with: "\($0)") }.joined(separator: "\n"))
        }
        """

    /// `#` stands for a number.
    static let kinds = [
        #"@Pref var p# = 12"#,
        #"@Pref(.in(8...72)) var p# = 12"#,
        #"@Pref var p# = 12.5"#,
        #"@Pref(.in(0.0...1.0)) var p# = 0.5"#,
        #"@Pref("Key #") var p# = false"#,
        #"@Pref var p# = "text""#,
        #"@Pref(.check { $0.isEmpty ? "must not be empty" : nil }) var p# = "untitled""#,
        #"@Pref var p# = Date(timeIntervalSince1970: 0)"#,
        #"@Pref var p# = Data()"#,
        #"@Pref var p# = URL(filePath: "/tmp")"#,
        #"@Pref var p#: URL? = nil"#,
        #"@Pref var p# = Theme.light"#,
        #"@Pref(.in(Theme.allCases)) var p# = Theme.light"#,
        #"@Pref var p#: Theme? = nil"#,
        #"@Pref var p#: [String] = []"#,
        #"@Pref var p#: [Int] = [1, 2, 3]"#,
        #"@Pref var p#: [String: Double] = ["a": 1, "b": 2.5]"#,
        #"@Pref var p# = Window()"#,
        #"@Pref var p#: Window? = nil"#,
        #"@Pref(.formerly("old#")) var p#: [Window] = [Window(), Window()]"#,
        #"@Pref var p#: Set<String> = ["a"]"#,
        #"@Pref(.in(["de", "en"])) var p# = "en""#,
        #"@Pref var p#: [Theme] = [.light, .dark]"#,
        #"@Pref var p#: [Theme]? = nil"#,
        #"@Pref var p#: [String: Any] = [:]"#,
        #"@Pref(.in(1...9), .formerly("cols#")) var p#: Int? = nil"#,
        #"@Pref var p#: Options = [.a, .b]"#,
        #"@Pref var p#: Decimal = 1"#,
        #"@Pref var p# = Level.high"#,
        #"@Pref(.in([.light, .dark])) var p#: Theme = .dark"#,
    ]
}
