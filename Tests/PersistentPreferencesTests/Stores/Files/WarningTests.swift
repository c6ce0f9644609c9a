@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsJSON

/// A malformed file and its quarantine are always reported, also if the access fails for another reason.
@Suite struct WarningTests {
    private let folder = TemporaryFolder.fresh
    private let prefs: AnyPrefs

    /// Damages the file behind an instance's back.
    init() throws {
        prefs = AnyPrefs(store: .propertyList(url: folder.file(), system: RecordingSystemCalls()))
        prefs["a"] = 1
        try Data("hello".utf8).write(to: folder.file())
    }

    private func expectReported(
        _ ending: String, _ others: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let told = prefs.errors
        #expect(told.first?.hasSuffix(ending) == true, sourceLocation: sourceLocation)
        #expect(Array(told.dropFirst()) == others, sourceLocation: sourceLocation)
        #expect(prefs.ints["a"] == 1, sourceLocation: sourceLocation)
    }

    private static let read = "the file is unchanged, and the last known state is read"
    private static let written = "; the write started from the last known state"

    @Test func withAWriteThatIsRejected() {
        prefs["a"] = { 1 } as () -> Int
        #expect(prefs.outcome == "a: a closure cannot be stored in a property list")
        expectReported(Self.read, "a: a closure cannot be stored in a property list")
    }

    private static let writes: KeyValuePairs<String, @Sendable (AnyPrefs) -> Void> = [
        "a change in place": { $0.values["b"] = 1 }, "an equal change in place": { $0.values["a"] = 1 },
        "an import": { #expect($0.import(Data("{\"b\": 2}".utf8), merge: true) == $0.lastError) },
    ]

    @Test(arguments: writes.map(\.key)) func withAWrite(_ name: String) throws {
        try #require(Self.writes.first { $0.key == name }).value(prefs)
        #expect(prefs.outcome.hasSuffix(Self.written))
        expectReported(Self.written)
    }

    /// The value of an update that is stored is not lost: a number that it took is taken.
    @Test func withAnUpdateThatReturnsAValue() throws {
        let taken = try prefs.update { values -> Int in
            values["b"] = 2
            return values.count
        }.get()
        #expect(taken == 2 && prefs.outcome.hasSuffix(Self.written) && prefs.ints == ["a": 1, "b": 2])
    }

    @Test func withAnUpdateInATaskThatReturnsAValue() async throws {
        let number = try await prefs.update { [prefs] in
            prefs["b"] = 3
            return 7
        }.get()
        #expect(number == 7)
        #expect(prefs.outcome.hasSuffix(Self.written) && prefs.ints == ["a": 1, "b": 3])
    }

    @Test func withAChangeInPlaceThatThrows() {
        func change(_ values: inout [String: Any]) throws { throw Stop() }
        #expect(throws: Stop.self) { try change(&prefs.values) }
        expectReported(Self.read)
    }

    @Test func withAFlushThatFindsNothing() throws {
        try FileManager.default.removeItem(at: folder.file(".test.plist.lastgood"))
        try FileManager.default.removeItem(at: folder.file())
        _ = prefs.values
        try Data("hello".utf8).write(to: folder.file())
        prefs.reload()
        #expect(prefs.outcome == "nothing is stored under the root key \"AnyPrefs\"")
        #expect(prefs.errors.count == 2)
        #expect(prefs.errors.first?.hasSuffix("because it may belong to another program") == true)
    }

    @Test func withAnUpdateThatThrows() {
        #expect(throws: Stop.self) { try prefs.update { throw Stop() } }
        _ = prefs.values
        #expect(prefs.errors.contains { $0.hasSuffix(Self.read) })
    }

    /// A store that is used directly cannot report a warning: its read throws it. After its write, the next access of an
    /// instance reports it, and still returns its values.
    @Test func afterAnAccessOfTheStoreAlone() throws {
        let store = PrefsStore.propertyList(url: folder.file())
        #expect(throws: PrefsError.self) { try store.read(root: "AnyPrefs") }
        try store.update(root: "AnyPrefs") { $0?["b"] = 2 }
        #expect(try store.read(root: "AnyPrefs")?["b"] as? Int == 2)
        #expect(prefs.ints == ["a": 1, "b": 2])
    }
}
