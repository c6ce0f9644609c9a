@testable import PrefsSupport
import Testing
import WriteOperations

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
        #expect(prefs.name == name && prefs.$name.isStored == isSet && prefs.$name.value == name)
        #expect(prefs["name"] as? String == (isSet ? name : nil))
        #expect(prefs.values as? [String: String] == (isSet ? ["name": name] : [:]))
        #expect(prefs.values.count == stored.count.signum())
        #expect(
            prefs["oldest"] == nil
                && prefs.outcome == "expected a key that @Pref declares or allowedKeys lists, found \"oldest\"")
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

    struct Way: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let value: String?
        fileprivate let apply: @Sendable (RenamedPrefs, PrefsStore) async -> Void

        static let all =
            WriteOperation.of(.property, .instance).map { operation in
                Way(testDescription: "\(operation)", value: operation.effect == .puts ? "written" : nil) {
                    prefs, store in
                    let target = WriteTarget(
                        prefs, \.name, \.$name, to: "written",
                        create: { RenamedPrefs(key: TypedFile.root, values: $0, store: store) })
                    #expect(await target.perform(operation) == nil)
                }
            } + [
                Way(testDescription: "inPlaceNil", value: nil) { prefs, _ in prefs.values["name"] = nil },
                Way(testDescription: "assignedEmpty", value: nil) { prefs, _ in prefs.values = [:] },
                Way(testDescription: "updateRemoves", value: nil) { prefs, _ in await prefs.update { $0 = [:] } },
            ]
    }

    @Test(arguments: Way.all, [true, false])
    func theOldValueNeverComesBack(_ way: Way, _ newIsStored: Bool) async throws {
        let old = ["newer": "b", "oldest": "c"]
        let file = try TypedFile(newIsStored ? old.merging(["name": "a"]) { $1 } : old)
        let prefs = prefs(file)
        await way.apply(prefs, file.store)
        #expect(prefs.outcome == "ok")
        // Nothing is left, and these remove the root then.
        let isGone = ["clear", "deleteAll"].contains(way.testDescription)
        #expect(try file.stored == (isGone ? "nothing" : exactly(way.value.map { ["name": $0] } ?? [:])))
        #expect(prefs.name == way.value ?? "default")
        await way.apply(prefs, file.store)
        #expect(self.prefs(file).name == way.value ?? "default")
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
        let suggestion = "; did you mean \"Size\"?"
        #expect(
            prefs.outcome == "expected a key that @Pref declares or allowedKeys lists, found \"size\"" + suggestion)
        #expect(try file.bytes == bytes)
        #expect(prefs.size == 20)
    }

    /// A value that a newer version keeps under a former key belongs to that version.
    @Test(arguments: [9, "beta"] as [any Sendable])
    func aRootOfANewerVersionKeepsAllItsKeys(_ version: any Sendable) throws {
        let file = try TypedFile([RootSchema.defaultVersionKey: version, "newer": "theirs", "pair": 1])
        let prefs = prefs(file)
        #expect(prefs.name == "default" && prefs.left == 0)
        prefs.name = "ours"
        prefs.$left.reset()
        #expect(prefs.outcome == "ok")
        #expect(
            try file.stored
                == exactly([RootSchema.defaultVersionKey: version, "newer": "theirs", "pair": 1, "name": "ours"]))
        prefs.resetAll()
        #expect(try file.stored == exactly([RootSchema.defaultVersionKey: version, "newer": "theirs", "pair": 1]))
    }
}
