import PersistentPreferences

/// Names for the keys of large roots.
enum ManyKeys {
    static let thousand = names(1_000)
    static let hundred = names(100)
    static let eight = names(8)

    private static func names(_ count: Int) -> [String] { (0..<count).map { "key\($0)" } }

    /// Integers, texts, Booleans and doubles, and `x`.
    static func values(_ keys: [String]) -> [String: Any] {
        var values: [String: Any] = ["x": 1]
        for (number, key) in keys.enumerated() {
            values[key] =
                switch number % 4 {
                case 0: number
                case 1: "the text of the key number \(number)"
                case 2: number % 3 == 0
                default: Double(number) + 0.5
                } as Any
        }
        return values
    }
}

/// A root of 1,000 keys, one of them declared.
final class ThousandPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var x = 0

    static let root = "ThousandPrefs"

    override var allowedKeys: [String] { ManyKeys.thousand }

    static func full(in store: PrefsStore) throws -> ThousandPrefs {
        let prefs = ThousandPrefs(values: ManyKeys.values(ManyKeys.thousand), store: store)
        try prefs.check()
        return prefs
    }
}

/// One long text.
final class TextPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var text = ""

    /// Two texts of 100 KB that differ in the first byte.
    static let texts = ["a", "b"].map { $0 + String(repeating: "0123456789", count: 10_000) }
}

/// A root of 100 keys. One key or all keys are written.
final class HundredPrefs: PersistentPrefs, @unchecked Sendable {
    override var allowedKeys: [String] { ManyKeys.hundred }

    static func full(in store: PrefsStore) throws -> HundredPrefs {
        let prefs = HundredPrefs(values: ManyKeys.hundred.reduce(into: [:]) { $0[$1] = 0 }, store: store)
        try prefs.check()
        return prefs
    }
}

/// A key for each thread.
final class EightPrefs: PersistentPrefs, @unchecked Sendable {
    override var allowedKeys: [String] { ManyKeys.eight }
}

/// A class with as many properties as a large settings screen.
final class SixteenPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var number1 = 1
    @Pref var number2 = 2
    @Pref var number3 = 3
    @Pref var number4 = 4
    @Pref var text1 = "one"
    @Pref var text2 = "two"
    @Pref var text3 = "three"
    @Pref var text4 = "four"
    @Pref var isOn1 = false
    @Pref var isOn2 = true
    @Pref var isOn3 = false
    @Pref(.in(0.0...1.0)) var part1 = 0.1
    @Pref(.in(0.0...1.0)) var part2 = 0.2
    @Pref(.in(["light", "dark"])) var theme = "light"
    @Pref var words: [String] = []
    @Pref var counts: [String: Int] = [:]
}
