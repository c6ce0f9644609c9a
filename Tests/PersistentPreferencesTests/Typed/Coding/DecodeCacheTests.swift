@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import Testing

@testable import PersistentPreferences

/// Counts the runs of `init(from:)` in the counter of each test.
private enum Counter { @TaskLocal static var current = Locked(0) }

private struct Counted: Codable, Equatable {
    var number: Int

    init(_ number: Int) { self.number = number }

    init(from decoder: any Decoder) throws {
        Counter.current.withLock { $0 += 1 }
        number = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .number)
    }
}

private final class ReusePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var single: Counted? = nil
    @Pref var list: [Counted] = []
    @Pref var other = 0
}

@Suite struct DecodeCacheTests {
    @Test(arguments: StoreKind.allCases)
    func anUnchangedValueIsDecodedOnce(on kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = kind.make(in: folder)
        let prefs = ReusePrefs(store: store)
        prefs.single = Counted(1)
        prefs.list = [Counted(1), Counted(2)]
        let counter = Locked(0)
        // In JSON, a changed value is decoded a second time, to find forms that a person has written.
        func hasDecoded(_ expected: Int) -> Bool {
            let count = counter.withLock { $0 }
            return kind == .json ? count <= 2 * expected : count == expected
        }
        Counter.$current.withValue(counter) {
            for _ in 0..<5 { #expect(prefs.single == Counted(1) && prefs.list.count == 2) }
            #expect(hasDecoded(3))
            prefs.other += 1
            prefs["other"] = 7
            #expect(prefs.single == Counted(1) && prefs.list.count == 2 && hasDecoded(3))
            prefs.reload()
            #expect(prefs.single == Counted(1) && prefs.list.count == 2 && hasDecoded(3))
            // A write decodes nothing if the new value has all fields of the stored one.
            prefs.single = Counted(1)
            #expect(prefs.single == Counted(1) && hasDecoded(3))
            prefs.single = Counted(9)
            #expect(prefs.single == Counted(9) && prefs.list.count == 2 && hasDecoded(4))
            prefs.list[1].number = 5
            #expect(prefs.list == [Counted(1), Counted(5)] && hasDecoded(6))
            // If the stored value has other fields, a write decodes it once, to find the fields that the type does not
            // know.
            prefs["single"] = ["number": 9, "other": true]
            #expect(prefs.single == Counted(9) && hasDecoded(8))
            prefs.single = Counted(8)
            #expect(hasDecoded(9) && (prefs["single"] as? [String: Any])?["other"] as? Bool == true)
        }
        #expect(prefs.outcome == "ok")
    }

    /// Another process replaces the file: the bytes differ, and the value is equal.
    @Test func aReplacedFileIsNoReasonToDecode() throws {
        let folder = try TemporaryFolder()
        let prefs = ReusePrefs(store: .propertyList(url: folder.file(), durability: .crash))
        prefs.single = Counted(1)
        let counter = Locked(0)
        try Counter.$current.withValue(counter) {
            #expect(prefs.single == Counted(1))
            var list = try propertyList(at: folder.file())
            var root = try #require(list["ReusePrefs"] as? [String: Any])
            for round in 0..<3 {
                root["other"] = round
                root["nobody's"] = String(repeating: "x", count: round * 100)
                list["ReusePrefs"] = root
                try FileManager.default.removeItem(at: folder.file())
                try writePropertyList(list, to: folder.file(), as: round == 1 ? .xml : .binary)
                #expect(prefs.other == round && prefs.single == Counted(1))
            }
            #expect(counter.withLock { $0 } == 1)
            root["single"] = ["number": 2]
            list["ReusePrefs"] = root
            try FileManager.default.removeItem(at: folder.file())
            try writePropertyList(list, to: folder.file())
            #expect(prefs.single == Counted(2) && counter.withLock { $0 } == 2)
        }
    }

    @Test func aValueThatCannotBeReadIsNotKept() throws {
        let store = PrefsStore.memory()
        let prefs = ReusePrefs(store: store)
        prefs.single = Counted(1)
        #expect(prefs.single == Counted(1))
        try store.update(root: "ReusePrefs") { $0?["single"] = ["number": "x"] }
        for _ in 0..<2 {
            #expect(prefs.single == nil)
            #expect(prefs.outcome == "single.number: expected Int, found a string")
        }
        prefs["single"] = ["number": 1]
        #expect(prefs.single == Counted(1) && prefs.outcome == "ok")
    }
}
