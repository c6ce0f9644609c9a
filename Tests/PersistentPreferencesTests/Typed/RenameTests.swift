@testable import PrefsSupport
import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences

private final class RenamedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.formerly("newer", "oldest")) var name = "default"
    @Pref("Size", .in(8...72), .formerly("size")) var size = 12
    @Pref(.formerly("pair")) var left = 0
    @Pref(.formerly("pair")) var right = 0
    @Pref var free = 0
}

@Suite struct RenameTests {
    private func prefs(_ file: TypedFile) -> RenamedPrefs {
        RenamedPrefs(key: TypedFile.root, store: file.store)
    }

    @Test(arguments: [
        (stored: ["oldest": "c"], name: "c"), (["newer": "b"], "b"), (["oldest": "c", "newer": "b"], "b"),
        (["name": "a", "oldest": "c", "newer": "b"], "a"), (["name": "a", "oldest": "c"], "a"), ([:], "default"),
    ])
    func theNewKeyWinsAndThenTheFirstFormerOne(_ stored: [String: String], _ name: String) throws {
        let file = try TypedFile(stored)
        let prefs = prefs(file)
        let bytes = try file.bytes
        let isSet = !stored.isEmpty
        #expect(prefs.name == name && prefs.$name.isSet == isSet && prefs.$name.value == name)
        #expect(prefs["name"] as? String == (isSet ? name : nil))
        #expect(prefs.values as? [String: String] == (isSet ? ["name": name] : [:]))
        #expect(prefs.count == stored.count.signum())
        #expect(
            prefs["oldest"] == nil
                && prefs.outcome == "expected a key that @Pref declares or keys lists, found \"oldest\"")
        #expect(try file.bytes == bytes)
        prefs.free = 1
        #expect(prefs.name == name && prefs.outcome == "ok")
        // If both keys exist, the old one stays until its property is written.
        let moved: [String: Any] = stored["name"] != nil ? stored : isSet ? ["name": name] : [:]
        #expect(try file.stored == exactly(moved.merging(["free": 1]) { $1 }))
        prefs.name = "new"
        #expect(try file.stored == exactly(["name": "new", "free": 1]))
        prefs.$name.reset()
        #expect(try file.stored == exactly(["free": 1]) && prefs.name == "default")
    }

    /// Each way to write or remove the property if both keys exist.
    enum Way: CaseIterable {
        case typed, handle, subscripted, inPlace, assigned, update, typedUpdate, initializer
        case reset, subscriptNil, inPlaceNil, clear, assignedEmpty, updateRemoves

        var value: String? {
            switch self {
            case .reset, .subscriptNil, .inPlaceNil, .clear, .assignedEmpty, .updateRemoves: nil
            default: "written"
            }
        }

        fileprivate func apply(to prefs: RenamedPrefs, in store: any PrefsStore) {
            switch self {
            case .typed: prefs.name = "written"
            case .handle: prefs.$name.set("written")
            case .subscripted: prefs["name"] = "written"
            case .inPlace: prefs.values["name"] = "written"
            case .assigned: prefs.values = ["name": "written"]
            case .update: prefs.update { $0["name"] = "written" }
            case .typedUpdate: prefs.update { prefs.name = "written" }
            case .initializer: _ = RenamedPrefs(key: TypedFile.root, values: ["name": "written"], store: store)
            case .reset: prefs.$name.reset()
            case .subscriptNil: prefs["name"] = nil
            case .inPlaceNil: prefs.values["name"] = nil
            case .clear: prefs.clear()
            case .assignedEmpty: prefs.values = [:]
            case .updateRemoves: prefs.update { $0 = [:] }
            }
        }
    }

    @Test(arguments: Way.allCases, [true, false])
    func theOldValueNeverComesBack(_ way: Way, _ newIsStored: Bool) throws {
        let old = ["newer": "b", "oldest": "c"]
        let file = try TypedFile(newIsStored ? old.merging(["name": "a"]) { $1 } : old)
        let prefs = prefs(file)
        way.apply(to: prefs, in: file.store)
        #expect(prefs.outcome == "ok")
        // Nothing is left, and clear() removes the root then.
        let isGone = way == .clear
        #expect(try file.stored == (isGone ? "nothing" : exactly(way.value.map { ["name": $0] } ?? [:])))
        #expect(prefs.name == way.value ?? "default")
        way.apply(to: prefs, in: file.store)
        #expect(self.prefs(file).name == way.value ?? "default")
    }

    @Test func anEqualWriteThroughARenameTouchesNothing() throws {
        let file = try TypedFile(["oldest": "c", "size": 20])
        let prefs = prefs(file)
        let before = try (file.bytes, file.fileNumber)
        prefs.name = "c"
        prefs["name"] = "c"
        prefs.values["Size"] = 20
        prefs.values = ["name": "c", "Size": 20]
        prefs.update { prefs.size = 20 }
        prefs.update { $0["name"] = "c" }
        prefs.update {}
        #expect(prefs.outcome == "ok")
        #expect(try file.bytes == before.0 && file.fileNumber == before.1)
    }

    @Test func twoPropertiesMayComeFromOneKey() throws {
        let file = try TypedFile(["pair": 5])
        let prefs = prefs(file)
        #expect(prefs.left == 5 && prefs.right == 5 && prefs.ints == ["left": 5, "right": 5])
        prefs.left = 6
        #expect(try file.stored == exactly(["left": 6, "right": 5]))
        try file.put(["pair": 7])
        prefs.$left.reset()
        #expect(try file.stored == exactly(["right": 7]))
        #expect(prefs.left == 0 && prefs.right == 7)
    }

    @Test func aRenamedValueIsHeldToTypeAndConstraint() throws {
        let file = try TypedFile(["size": 100, "oldest": 5])
        let prefs = prefs(file)
        #expect(prefs.size == 12 && prefs.outcome == "Size: must be in 8...72")
        #expect(
            prefs.name == "default" && prefs.outcome == "name: expected String, found an integer")
        prefs.free = 1
        #expect(prefs.outcome == "ok")
        #expect(try file.stored == exactly(["Size": 100, "name": 5, "free": 1]))
    }

    @Test func aRejectedWriteMovesNothing() throws {
        let file = try TypedFile(["size": 20])
        let prefs = prefs(file)
        let bytes = try file.bytes
        prefs.size = 100
        prefs.values["Size"] = 100
        prefs.values["size"] = 20
        #expect(prefs.outcome == "expected a key that @Pref declares or keys lists, found \"size\"")
        #expect(try file.bytes == bytes)
        #expect(prefs.size == 20)
    }

    @Test func deleteAllTakesFormerKeysToo() throws {
        let file = try TypedFile(["oldest": "c"])
        let prefs = prefs(file)
        prefs.deleteAll()
        #expect(prefs.name == "default" && prefs.outcome == "ok")
        #expect(try file.stored == "nothing")
    }

    /// A value that a newer version keeps under a former key belongs to that version.
    @Test func aRootOfANewerVersionKeepsAllItsKeys() throws {
        let file = try TypedFile([RootSchema.defaultVersionKey: 9, "newer": "theirs", "pair": 1])
        let prefs = prefs(file)
        #expect(prefs.name == "default" && prefs.left == 0)
        prefs.name = "ours"
        prefs.$left.reset()
        #expect(prefs.outcome == "ok")
        #expect(
            try file.stored == exactly([RootSchema.defaultVersionKey: 9, "newer": "theirs", "pair": 1, "name": "ours"]))
        prefs.clear()
        #expect(try file.stored == exactly([RootSchema.defaultVersionKey: 9, "newer": "theirs", "pair": 1]))
    }
}
