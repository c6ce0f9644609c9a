@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsLayers
import Testing

private class BasePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var first = 1
    @Pref("Second One") var second = "two"
}

private class PlainMiddle: BasePrefs, @unchecked Sendable {
    var unrelated = 0
}

private final class LastPrefs: PlainMiddle, @unchecked Sendable {
    @Pref var third: Int?
    @Pref private var hidden = 4
    @Pref fileprivate var shown = 5

    func hide(_ value: Int) -> PrefsError? { $hidden.set(value) }
}

private class GenericPrefs<Value: Codable & Sendable>: PersistentPrefs, @unchecked Sendable {
    @Pref var list: [Value] = []
    @Pref var latest: Value? = nil
}

private final class DerivedGenericPrefs: GenericPrefs<Date>, @unchecked Sendable {
    @Pref var sum = 0
}

private final class OddlyNamedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var `default` = 1
    @Pref var _leading = 2
    @Pref var größe = 3
    @Pref("with space, \"quotes\" and 😀") var odd = 4
}

/// Raw identifiers.
private final class RawNamesPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var `has widgets` = true
    @Pref var `two  blanks` = 1
    @Pref var `3D.view` = 2
}

private final class HandWrittenKeysPrefs: PersistentPrefs, @unchecked Sendable {
    override var allowedKeys: [String] { ["by hand", "both"] }

    @Pref var declared = 1
    @Pref var both = 2
}

private final class SuperKeysPrefs: PersistentPrefs, @unchecked Sendable {
    override var allowedKeys: [String] { super.allowedKeys + ["by hand"] }

    @Pref var declared = 1
}

/// Wrappers that are assigned in the initializer; some come from one place in the source.
private final class AssignedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var plain: Int
    @Pref var left: Int
    @Pref var right: Int
    @Pref var swapped: Int
    @Pref var other: Int

    init(isOdd: Bool, store: PrefsStore) {
        func make(_ value: Int) -> Pref<Int> { Pref(wrappedValue: value) }
        func late(_ value: Int) -> Pref<Int> { Pref(wrappedValue: value) }
        _plain = isOdd ? Pref(wrappedValue: 1) : Pref(wrappedValue: 2)
        _left = make(3)
        _right = make(4)
        // One line makes different properties.
        if isOdd {
            _swapped = late(5)
            _other = Pref(wrappedValue: 6)
        } else {
            _swapped = Pref(wrappedValue: 5)
            _other = late(6)
        }
        super.init(key: TypedFile.root, store: store)
    }

    override init(key: String?, values: [String: Any]?, store: PrefsStore?) { fatalError("not used") }
    var handles: [PrefHandle<Int>] { [$plain, $left, $right, $swapped, $other] }
}

/// Like `AssignedPrefs`, but the first instance does not show that one line makes several properties.
private final class CrossedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var one: Int
    @Pref var two: Int

    init(isCrossed: Bool, store: PrefsStore) {
        func shared(_ value: Int) -> Pref<Int> { Pref(wrappedValue: value) }
        _one = isCrossed ? Pref(wrappedValue: 1) : shared(1)
        _two = isCrossed ? shared(2) : Pref(wrappedValue: 2)
        super.init(key: TypedFile.root, store: store)
    }

    override init(key: String?, values: [String: Any]?, store: PrefsStore?) { fatalError("not used") }
}

private final class RacedPrefs<Tag>: PersistentPrefs, @unchecked Sendable {
    @Pref var number = 0
    @Pref("text") var words = ""
    @Pref var list = [0]
}

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

/// The keys of a class and their origins, and the descriptions of its properties.
@Suite struct DeclarationTests {
    private let store = PrefsStore.memory()

    @Test func keysComeFromTheWholeChainOfClasses() {
        let prefs = LastPrefs(store: store)
        #expect(prefs.allowedKeys == ["first", "Second One", "third", "hidden", "shown"])
        #expect(PlainMiddle(store: store).allowedKeys == ["first", "Second One"])
        #expect(BasePrefs(store: store).allowedKeys == ["first", "Second One"])
        #expect(prefs.third == nil)
        prefs.first = 10
        prefs.second = "20"
        prefs.third = 30
        #expect(prefs.hide(40) == nil)
        prefs.shown = 50
        #expect(exactForm(prefs.values) == "{'Second One': '20', 'first': 10, 'hidden': 40, 'shown': 50, 'third': 30}")
    }

    @Test func aGenericClassIsAClassOfItsOwnForEachType() {
        let numbers = GenericPrefs<Int>(key: "numbers", store: store)
        let texts = GenericPrefs<String>(key: "texts", store: store)
        let dates = DerivedGenericPrefs(key: "dates", store: store)
        numbers.list.append(1)
        texts.list += ["a", "b"]
        texts.latest = "b"
        dates.latest = Date(timeIntervalSinceReferenceDate: 0.5)
        dates.sum += 1
        #expect(dates.allowedKeys == ["list", "latest", "sum"])
        #expect(numbers.list == [1] && texts.list == ["a", "b"] && texts.latest == "b")
        #expect(dates.latest?.timeIntervalSinceReferenceDate == 0.5 && dates.sum == 1)
        #expect(GenericPrefs<String>.describe().map { "\($0.valueType)" } == ["Array<String>", "Optional<String>"])
    }

    @Test func anyNameIsAKey() {
        let prefs = OddlyNamedPrefs(store: store)
        #expect(prefs.allowedKeys == ["default", "_leading", "größe", "with space, \"quotes\" and 😀"])
        prefs.default = 10
        prefs._leading = 20
        prefs.größe = 30
        prefs.odd = 40
        #expect(prefs.outcome == "ok")
        #expect(prefs.allowedKeys.map { prefs[$0] as? Int } == [10, 20, 30, 40])
    }

    /// The key is the name, without what reflection adds to it.
    @Test func theKeyOfARawIdentifierIsItsName() {
        let prefs = RawNamesPrefs(store: store)
        #expect(prefs.allowedKeys == ["has widgets", "two  blanks", "3D.view"])
        prefs.`has widgets` = false
        prefs.`two  blanks` = 3
        prefs.`$3D.view`.set(4)
        #expect(prefs.outcome == "ok" && prefs.ints == ["two  blanks": 3, "3D.view": 4])
        #expect(prefs["has widgets"] as? Bool == false && RawNamesPrefs(store: store).`3D.view` == 4)
    }

    @Test func keysByHandAndDeclaredOnesAreBothAllowed() {
        let prefs = HandWrittenKeysPrefs(store: store)
        #expect(prefs.allowedKeys == ["by hand", "both"])
        prefs["by hand"] = 0
        prefs.declared = 10
        prefs.both = 20
        #expect(prefs.ints == ["by hand": 0, "declared": 10, "both": 20] && prefs.values.count == 3)
        prefs.values = ["declared": 1, "neither": 2]
        #expect(prefs.outcome == "expected a key that @Pref declares or allowedKeys lists, found \"neither\"")
        #expect(prefs.values.count == 3)
        prefs.resetAll()
        #expect(prefs.values.count == 0 && prefs.declared == 1)

        let more = SuperKeysPrefs(store: store)
        #expect(more.allowedKeys == ["declared", "by hand"])
        more.values = ["declared": 5, "by hand": 6]
        #expect(more.declared == 5 && more.outcome == "ok")
    }

    @Test func wrappersMayBeAssignedInAnInitializer() {
        let names = ["plain", "left", "right", "swapped", "other"]
        for isOdd in [true, false, true] {
            let prefs = AssignedPrefs(isOdd: isOdd, store: store)
            #expect(prefs.allowedKeys == names)
            #expect(prefs.handles.map(\.key) == names)
            #expect(prefs.handles.map(\.defaultValue) == [isOdd ? 1 : 2, 3, 4, 5, 6])
            for (number, handle) in prefs.handles.enumerated() { handle.set(number) }
            #expect(names.map { prefs[$0] as? Int } == [0, 1, 2, 3, 4])
        }
    }

    @Test func aPropertyIsIdentifiedByItselfAndNotByItsLine() {
        _ = CrossedPrefs(isCrossed: false, store: store)
        let prefs = CrossedPrefs(isCrossed: true, store: store)
        prefs.two = 20
        prefs.one = 10
        #expect(prefs.ints == ["one": 10, "two": 20])
    }

    @Test func theFirstInstancesOfAClassMayBeMadeAtOnce() {
        func race<Tag>(_ tag: Tag.Type, rounds: Int) {
            let store = store
            inThreads(16) { number in
                let prefs = RacedPrefs<Tag>(key: "\(rounds)", store: store)
                prefs.update { prefs.number += 1 }
                if number == 7 { prefs.words = "seven" }
                prefs.update { prefs.list.append(number) }
            }
            let prefs = RacedPrefs<Tag>(key: "\(rounds)", store: store)
            #expect(prefs.allowedKeys == ["number", "text", "list"])
            #expect(prefs.number == 16 && prefs.words == "seven" && prefs.list.sorted() == [0] + Array(0..<16))
            if rounds > 1 { race([Tag].self, rounds: rounds - 1) }
        }
        race(Int.self, rounds: 10)
    }

    @Test func everyPropertyIsDescribed() {
        _ = UpperPrefs(store: .memory())
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
        #expect(UpperPrefs(store: .memory()).describe().map(\.key) == descriptions.map(\.key))
        _ = LowerPrefs(store: .memory())
        #expect(LowerPrefs.describe().map(\.name) == ["lower"])
    }
}
