import PersistentPreferences
import Testing

private enum Shade: String { case light, dark }

private class LowerPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref("Lower One", .in(8...72), .formerly("lower", "lowest")) var lower = 12
}

private final class UpperPrefs: LowerPrefs, @unchecked Sendable {
    @Pref(.in([Shade.light, .dark])) var theme = Shade.light
    @Pref var owner: String?
    @Pref(.check { $0.map { $0 > 0 } == false ? "must be positive" : nil }) var size: Double? = 1.5
    @Pref var deep: [String: [Int]] = ["a": [1]]
}

@Suite struct DescribeTests {
    @Test func everyPropertyIsDescribed() {
        _ = UpperPrefs(store: InMemoryStore())
        let descriptions = UpperPrefs.describe()
        #expect(descriptions.map(\.name) == ["lower", "theme", "owner", "size", "deep"])
        #expect(descriptions.map(\.key) == ["Lower One", "theme", "owner", "size", "deep"])
        #expect(descriptions.map { $0.valueType == Int.self } == [true, false, false, false, false])
        #expect(descriptions[1].valueType == Shade.self && descriptions[2].valueType == String?.self)
        #expect(descriptions[3].valueType == Double?.self && descriptions[4].valueType == [String: [Int]].self)
        #expect(descriptions[0].defaultValue as? Int == 12 && descriptions[1].defaultValue as? Shade == .light)
        #expect(descriptions[2].defaultValue as? String == nil && descriptions[3].defaultValue as? Double == 1.5)
        #expect(descriptions[4].defaultValue as? [String: [Int]] == ["a": [1]])
        #expect(descriptions.map(\.constraint) == ["in 8...72", "one of light, dark", nil, "accepted by a check", nil])
        #expect(descriptions.map(\.formerKeys) == [["lower", "lowest"], [], [], [], []])
        #expect(
            descriptions.map(\.description) == [
                "lower (\"Lower One\"): Int = 12, in 8...72, previously \"lower\", \"lowest\"",
                "theme: Shade = light, one of light, dark",
                "owner: Optional<String> = nil",
                "size: Optional<Double> = 1.5, accepted by a check",
                "deep: Dictionary<String, Array<Int>> = [\"a\": [1]]",
            ])
        #expect(UpperPrefs(store: InMemoryStore()).describe().map(\.key) == descriptions.map(\.key))
        _ = LowerPrefs(store: InMemoryStore())
        #expect(LowerPrefs.describe().map(\.name) == ["lower"])
    }
}
