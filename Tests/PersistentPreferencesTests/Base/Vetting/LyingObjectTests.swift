@testable import PrefsSupport
import Foundation
import Testing
import WriteOperations

@testable import PersistentPreferences
import PrefsStoreKit

/// Objects that report false sizes, types or keys, on the write paths that `VettingTests` does not take and in
/// comparisons without a write.
@Suite struct LyingObjectTests {
    private let store = PrefsStore.memory()

    /// An import has bytes, not objects.
    private static let operations =
        WriteOperation.untyped.filter { ![.importedJSON, .importedXML, .importedBinary, .importedWhole].contains($0) }
        + [.storeUpdate]

    @Test(arguments: operations) func aLyingObjectIsRejectedByEveryOperation(_ operation: WriteOperation) async {
        let prefs = AnyPrefs(store: store)
        prefs["b"] = 5
        for unstorable in UnstorableValue.lies {
            let target = WriteTarget(
                prefs, in: store, key: "a", with: ["b": 1],
                create: { [store] in AnyPrefs(values: $0, store: store) }, to: { unstorable.value() })
            let error = await target.perform(operation)
            #expect(error.map { "\($0)" } == "a\(unstorable.path): \(unstorable.reason)")
            #expect(AnyPrefs(store: store).ints == ["b": 5])
        }
    }

    /// Compared values may not have been vetted, so their contents are not read. A change vets them first.
    @Test(arguments: UnstorableValue.lies) func aLyingObjectIsComparedByIdentity(_ unstorable: UnstorableValue) {
        let value = unstorable.value()
        let isObject = type(of: value) is AnyClass
        #expect(SharedStorage.areSame(value, value) == isObject)
        for other: Any in ["x", NSNumber(value: 1), [value], ["k": value], Data(), unstorable.value()] {
            #expect(!SharedStorage.areSame(value, other) && !SharedStorage.areSame(other, value))
        }
        #expect(PrefsChange(root: "r", from: ["a": 1], to: ["a": value], origin: .elsewhere)?.keys == ["a"])
        #expect(PrefsChange(root: "r", from: ["a": value], to: ["a": "x"], origin: .thisProcess)?.keys == ["a"])
    }

    /// A subclass that reports true sizes is stored, also close to the limit.
    @Test func honestSubclassesAreStored() throws {
        func stored(_ value: Any) throws -> String {
            exactForm(try PropertyListVetter.storedObject(of: value).get())
        }
        #expect(try stored(UnitsText([0x61, 0x62])) == "'ab'")
        #expect(try stored(LyingArray(count: 3)) == "[1, 1, 1]")
        #expect(try stored(LyingArray(count: 0)) == "[]")
        #expect(try stored(LyingArray(count: 2, element: LyingArray(count: 1, element: "x"))) == "[['x'], ['x']]")
        let keys = LyingDictionary.Keys.these(["k", UnitsText([0x6C])])
        #expect(try stored(LyingDictionary(count: 2, keys: keys)) == "{'k': 1, 'l': 1}")
        #expect(try stored(LyingDictionary(count: 0, keys: .these([]))) == "{}")
        // A dictionary has the keys that it enumerates.
        #expect(try stored(LyingDictionary(count: 3, keys: .these(["k"]))) == "{'k': 1}")
        // It costs what it holds.
        #expect(refusals(of: LyingDictionary(count: 1, keys: .endless)) == ["a.k269087: \(UnstorableValue.tooLarge)"])
        let isNil = "a.k: nil cannot be stored in a property list"
        #expect(refusals(of: LyingDictionary(count: 1, keys: .these(["k"]), value: nil)) == [isNil])
        #expect(try stored(LyingData(length: 2)) == "data YWI=")
        // Nine bytes for each element, and nine for the array.
        let most = (4 << 20) / 9 - 1
        #expect(refusals(of: LyingArray(count: most)) == [])
        #expect(refusals(of: LyingArray(count: most + 1)) == ["a: \(UnstorableValue.tooLarge)"])
    }

    /// A container that makes a new container for each element has no end. The budget stops the pass.
    @Test(.timeLimit(.minutes(10))) func containersThatMultiplyAreRejected() throws {
        final class Multiplying: NSArray {
            override var count: Int { 400_000 }
            override func object(at index: Int) -> Any { Multiplying() }
        }
        final class MultiplyingDictionary: NSDictionary {
            override var count: Int { 400_000 }
            override func keyEnumerator() -> NSEnumerator {
                NSArray(array: (0..<10).map { "\($0)" }).objectEnumerator()
            }
            override func object(forKey key: Any) -> Any? { MultiplyingDictionary() }
        }
        for value: Any in [Multiplying(), MultiplyingDictionary()] {
            #expect((1...100).contains(refusals(of: value).count))
        }
    }

    /// A Swift array or dictionary that must be converted is measured before the conversion.
    @Test func anArrayLargerThanTheLimitIsRejected() {
        for value: Any in [
            [UInt8](repeating: 1, count: 1 << 26), Dictionary(uniqueKeysWithValues: (0..<500_000).map { ($0, 1) }),
        ] {
            #expect(refusals(of: value) == ["a: \(UnstorableValue.tooLarge)"])
        }
    }
}
