@testable import PrefsSupport
import EngineSupport
import Foundation
import PrefsStoreKit
import Testing

@testable import PersistentPreferences

private final class KeptPrefs: PersistentPrefs, @unchecked Sendable {
    nonisolated(unsafe) static var isOddAllowed = true

    @Pref var number = 0
    @Pref var text = "none"
    @Pref var list: [Int] = []
    @Pref(.check { $0.isMultiple(of: 2) || KeptPrefs.isOddAllowed ? nil : "must be even" }) var limited = 0

    /// Each value of each kind, read twice. The second read uses the cached value.
    var all: [String] {
        let first = ["\(number)", text, "\(list)"]
        return first == ["\(number)", text, "\(list)"] ? first : ["two readings"]
    }
}

/// A typed property caches the value that it has read, and never returns an outdated one.
@Suite struct CachedValueTests {
    private let folder = TemporaryFolder.fresh

    private static func values(_ number: Int) -> [String: Any] {
        ["number": number, "text": "\(number)", "list": [number]]
    }

    private func all(_ number: Int) -> [String] { ["\(number)", "\(number)", "[\(number)]"] }
    private let none = ["0", "none", "[]"]

    @Test(arguments: StoreKind.allCases) func eachRootHasItsOwn(on kind: StoreKind) throws {
        let store = kind.make(in: folder)
        let prefs = KeptPrefs(key: "A", values: Self.values(1), store: store)
        let other = KeptPrefs(key: "B", values: Self.values(2), store: store)
        for _ in 0..<3 {
            #expect(prefs.all == all(1) && other.all == all(2))
            prefs.key = "B"
            #expect(prefs.all == all(2))
            prefs.key = "missing"
            #expect(prefs.all == none)
            prefs.key = "A"
            #expect(prefs.all == all(1))
        }
        // A commit of one root changes the revision of the whole file. The values of the other root are not lost or
        // mixed up.
        other.number = 7
        #expect(prefs.all == all(1) && other.number == 7 && other.text == "2")
    }

    @Test(arguments: StoreKind.allCases) func everyDoorIsSeen(on kind: StoreKind) throws {
        let store = kind.make(in: folder)
        let prefs = KeptPrefs(key: "Root", values: Self.values(1), store: store)
        let other = KeptPrefs(key: "Root", store: store)
        #expect(prefs.all == all(1) && other.all == all(1))
        let doors: [(Int, () throws -> Void)] = [
            (2, { other.values = Self.values(2) }),
            (3, { other.update { for (key, value) in Self.values(3) { $0[key] = value } } }),
            (4, { try store.update(root: "Root") { $0 = Self.values(4) } }),
            (5, { (other.number, other.text, other.list) = (5, "5", [5]) }),
            (6, { for (key, value) in Self.values(6) { prefs[key] = value } }),
        ]
        for (number, door) in doors {
            try door()
            #expect(prefs.all == all(number) && other.all == all(number))
        }
        other.resetAll()
        #expect(prefs.all == none)
        try store.update(root: "Root") { $0 = Self.values(8) }
        #expect(prefs.all == all(8))
        other.deleteRoot()
        #expect(prefs.all == none && prefs.outcome == "ok")
        prefs.number = 9
        #expect(prefs.number == 9 && other.number == 9)
    }

    /// Edits of every kind are read: a replacement, a write in place with an equal size, a removal, damage and a
    /// restoration.
    @Test func editsOfTheFileAreSeen() throws {
        let file = try TypedFile(Self.values(1))
        let prefs = KeptPrefs(key: TypedFile.root, store: file.store)
        for round in 1..<40 {
            let values = Self.values(10 + round)
            let url = file.folder.file()
            if round.isMultiple(of: 2) { try FileManager.default.removeItem(at: url) }
            let handle = round % 4 == 1 ? try FileHandle(forUpdating: url) : nil
            let bytes = try PropertyListSerialization.data(
                fromPropertyList: [TypedFile.root: values], format: .binary, options: 0)
            if let handle {
                try handle.truncate(atOffset: 0)
                try handle.write(contentsOf: bytes)
                try handle.close()
            } else {
                try bytes.write(to: url)
            }
            #expect(prefs.all == all(10 + round), "round \(round)")
        }
        #expect(prefs.outcome == "ok")
        try FileManager.default.removeItem(at: file.folder.file())
        expectEventually(prefs.all, is: none)
        prefs.values = Self.values(5)
        #expect(prefs.all == all(5))
        try Data("garbage".utf8).write(to: file.folder.file())
        #expect(prefs.problems().count == 1)
        #expect(prefs.number == 5)
        #expect(prefs.lastError?.detail(of: PrefsError.damaged) != nil, "\(prefs.outcome)")
        #expect(prefs.all == all(5) && prefs.lastError != nil)
        prefs.values = Self.values(6)
        #expect(prefs.lastError?.isWarning == true)
        #expect(prefs.all == all(6) && prefs.outcome == "ok")
    }

    @Test(arguments: StoreKind.allCases) func anUpdateSeesItsOwnAndARollbackTakesItBack(on kind: StoreKind) throws {
        let prefs = KeptPrefs(key: "Root", values: Self.values(1), store: kind.make(in: folder))
        for round in 0..<3 {
            #expect(prefs.all == all(1))
            #expect(throws: Stop.self) {
                try prefs.update {
                    #expect(prefs.all == all(1))
                    for step in 2..<5 {
                        (prefs.number, prefs.text, prefs.list) = (step, "\(step)", [step])
                        #expect(prefs.all == all(step), "round \(round)")
                    }
                    throw Stop()
                }
            }
            #expect(prefs.all == all(1), "round \(round)")
        }
        prefs.update {
            (prefs.number, prefs.text, prefs.list) = (9, "9", [9])
            inThreads(1) { _ in #expect(prefs.all == all(1)) }
            #expect(prefs.all == all(9))
        }
        #expect(prefs.all == all(9))
    }

    /// Such a store has no revisions, so each read asks it.
    @Test func aStoreOfAnotherModuleIsReadEachTime() throws {
        let inner = PrefsStore.memory()
        let prefs = KeptPrefs(key: "Root", store: AccountBackend(account: "x", in: inner).store)
        for number in 1..<4 {
            try inner.update(root: "Root@x") { $0 = Self.values(number) }
            #expect(prefs.all == all(number))
        }
        try inner.update(root: "Root@x") { $0 = nil }
        #expect(prefs.all == none)
    }

    @Test func aConstraintIsAskedEachTime() {
        KeptPrefs.isOddAllowed = true
        defer { KeptPrefs.isOddAllowed = true }
        let prefs = KeptPrefs(key: "Root", values: ["limited": 3], store: .memory())
        for _ in 0..<2 {
            KeptPrefs.isOddAllowed = true
            #expect(prefs.limited == 3 && prefs.outcome == "ok")
            KeptPrefs.isOddAllowed = false
            #expect(prefs.limited == 0 && prefs.outcome == "limited: must be even")
        }
    }

    @Test func aMismatchIsReportedEachTime() throws {
        let file = try TypedFile(["number": 1, "text": 5])
        let prefs = KeptPrefs(key: TypedFile.root, store: file.store)
        let mismatch = "text: expected String, found an integer"
        for _ in 0..<3 {
            #expect(prefs.number == 1 && prefs.outcome == "ok")
            #expect(prefs.text == "none" && prefs.outcome == mismatch)
        }
        try file.put(["number": 1, "text": "fits"])
        #expect(prefs.text == "fits" && prefs.outcome == "ok")
        // The cached value of a valid state is not used for an invalid one.
        try file.store.update(root: TypedFile.root) { $0?["text"] = 5 }
        for _ in 0..<2 { #expect(prefs.text == "none" && prefs.outcome == mismatch) }
    }
}
