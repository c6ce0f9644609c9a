@testable import PrefsSupport
import Foundation
import PrefsStoreKit
@testable import PersistentPreferences
import PrefsTestSet
import TestSupport
import Testing

/// Contract 3: a value that a property list cannot hold at any level is rejected as a whole.
@Suite struct VettingTests {
    private let store = PrefsStore.memory()
    private let prefs: AnyPrefs
    private let before: String

    init() {
        let values = PrefsTestSet.defaultValues
        prefs = AnyPrefs(Array(values.keys), key: "root", values: values, store: store)
        before = exactForm(prefs.values)
    }

    /// In the usual form, each value is at two of the places.
    @Test(arguments: UnstorableValue.all) func anUnstorableValueIsRejectedEverywhere(_ unstorable: UnstorableValue)
        throws
    {
        let places: [(path: String, value: () -> Any)] = [
            ("", unstorable.value),
            ("[1]", { ["fine", unstorable.value()] }),
            (".a[3]", { ["a": ["b", 1, true, unstorable.value()] as [Any], "c": "fine"] as [String: Any] }),
            ("[0].key", { [["key": unstorable.value()]] }),
        ]
        // The size of a text is counted by characters, at every place.
        for place in unstorable.reason == UnstorableValue.tooLarge
            ? [places[3]] : Hazard.each(2, of: places, from: unstorable.name.utf8.count)
        {
            prefs["Dictionary Value"] = place.value()
            let path = "Dictionary Value\(place.path)\(unstorable.path)"
            let told = try expectRejection(of: "Dictionary Value")
            #expect(told.map(\.description) == ["\(path): \(unstorable.reason)"])
            try expectNothingChanged()
        }
    }

    /// A dictionary of Foundation would have copied the key, and repaired it.
    @Test func aKeyWithAnUnpairedSurrogateIsRejected() throws {
        prefs["Dictionary Value"] = [AnyHashable(UnitsText([0x61, 0xD800])): 1]
        let told = try expectRejection(of: "Dictionary Value")
        #expect(told.map(\.reason) == ["a string with an unpaired surrogate cannot be stored in a property list"])
        try expectNothingChanged()
    }

    /// Foundation converts a Swift value to an object of its choice there.
    @Test(arguments: Hazard.each(2, of: UnstorableValue.all)) func anUnstorableValueIsRejectedInObjects(
        _ unstorable: UnstorableValue
    ) throws {
        guard type(of: unstorable.value()) != Substring.self else { return }
        prefs["Dictionary Value"] = NSArray(array: [
            "x", NSDictionary(object: unstorable.value(), forKey: "k" as NSString),
        ])
        let told = try expectRejection(of: "Dictionary Value")
        #expect(told.map(\.path) == ["Dictionary Value[1].k\(unstorable.path)"])
        try expectNothingChanged()
    }

    @Test func aStoreIsGuardedToo() throws {
        let error = try #require(
            #expect(throws: PrefsError.self) {
                try store.update(root: "root") { $0 = ["any key": [1, NSNull()] as [Any]] }
            })
        #expect("\(error)" == "any key[1]: NSNull cannot be stored in a property list; remove the key")
        try expectNothingChanged()
    }

    @Test func allOffendersAreNamedInOrder() throws {
        prefs.values = [
            "String Value": "fine", "Integer Value": CGFloat(1), "Date Value": Date(timeIntervalSince1970: .nan),
            "Array Value": [NSNull(), 1, Set(["a"])] as [Any],
            "Dictionary Value": ["a": [1, 2, 3, { 1 } as () -> Int] as [Any]],
        ]
        let told = try expectRejection(of: "Array Value", "Date Value", "Dictionary Value", "Integer Value")
        #expect(
            told.map(\.description) == [
                "Array Value[0]: NSNull cannot be stored in a property list; remove the key",
                "Array Value[2]: a Set<String> cannot be stored in a property list; convert it to Array",
                "Date Value: a date must be finite",
                "Dictionary Value.a[3]: a closure cannot be stored in a property list",
                "Integer Value: a CGFloat cannot be stored in a property list; convert it to Double",
            ])
        try expectNothingChanged()
    }

    /// As the layers do for the names of variables and options.
    @Test func aMistypedKeyIsSuggested() throws {
        let start = "expected a key that @Pref declares or allowedKeys lists, found "
        let end = "\"Integer Valeu\"; did you mean \"Integer Value\"?"
        prefs["Integer Valeu"] = 1
        #expect(prefs.outcome == start + end)
        #expect(prefs["Integer Valeu"] == nil && prefs.outcome == start + end)
        prefs.values["Integer Valeu"] = 2
        #expect(prefs.outcome == start + end)
        #expect(prefs.reset("Integer Valeu").map { "\($0)" } == start + end)
        // A key that is given twice is one.
        #expect(prefs.reset("Integer Valeu", "Integer Valeu").map { "\($0)" } == start + end)
        #expect(prefs.reset("z", "a", "z").map { "\($0)" } == start + "\"a\", \"z\"")
        // Of two mistyped keys, none is suggested, and an error of your own has no suggestion.
        prefs.values = ["Integer Valeu": 1, "String Valeu": ""]
        #expect(prefs.outcome == start + "\"Integer Valeu\", \"String Valeu\"")
        #expect(PrefsError.incorrectKeys(invalidElements: ["Integer Valeu"]).description == start + "\"Integer Valeu\"")
        try expectNothingChanged()
    }

    /// `allowedKeys` may list the reserved key.
    @Test func aReservedKeyIsNotSuggestedInItsPlace() {
        let version = "PersistentPreferences version"
        let message = "expected a key that @Pref declares or allowedKeys lists, found \"\(version)\""
        let prefs = AnyPrefs(["a", version], store: .memory())
        prefs[version] = 1
        #expect(prefs.outcome == message)
        let near = AnyPrefs(["a", version, version + "s"], store: .memory())
        near[version] = 1
        #expect(near.outcome == message + "; did you mean \"\(version)s\"?")
    }

    @Test func aKeyThatIsNotAllowedIsNamedBeforeAnyValue() throws {
        prefs.values = ["z": NSNull(), "String Value": NSNull(), "b": 1, "Integer Value": 11]
        #expect(prefs.outcome == "expected a key that @Pref declares or allowedKeys lists, found \"b\", \"z\"")
        try expectNothingChanged()
    }

    /// Each error has its own reasons, however many follow it.
    @Test func anOldErrorKeepsItsReasons() throws {
        prefs["Date Value"] = { print("hi") }
        let first = try #require(prefs.lastError)
        let copy = PrefsError.valuesNotPlistCompatible(invalidElements: ["Date Value"])
        for _ in 0..<100 { prefs["Date Value"] = NSObject() }
        #expect(first.failures.map(\.reason) == ["a closure cannot be stored in a property list"])
        #expect(prefs.lastError.map { $0 == first } == true, "the keys are equal")
        #expect(copy == first && copy.failures.map(\.reason) == ["cannot be stored in a property list"])
    }

    /// Expects that the last write was rejected for the values of these keys. Returns the reasons.
    private func expectRejection(of keys: String...) throws -> [PropertyListFailure] {
        let error = try #require(prefs.lastError)
        #expect(error == .valuesNotPlistCompatible(invalidElements: InvalidKeys(keys)))
        return error.failures
    }

    private func expectNothingChanged() throws {
        #expect(exactForm(prefs.values) == before)
        #expect(exactForm(try store.read(root: "root") ?? [:]) == before)
        #expect(prefs.lastError == nil)
    }
}
