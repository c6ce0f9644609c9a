import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences

/// That a file was set aside is told once and for sure, whatever else the access that met it comes to.
@Suite struct NoticeTests {
    private let folder: TemporaryFolder
    private let prefs: AnyPrefs

    private struct Stop: Error {}

    /// Damages the file behind an instance's back.
    init() throws {
        folder = try TemporaryFolder()
        prefs = AnyPrefs(store: PropertyListFileStore(url: folder.file(), system: RecordingSystemCalls()))
        prefs["a"] = 1
        try Data("hello".utf8).write(to: folder.file())
    }

    private func expectTold(_ others: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(
            prefs.errors.first?.hasSuffix("the last good state was restored") == true, sourceLocation: sourceLocation)
        #expect(Array(prefs.errors.dropFirst()) == others, sourceLocation: sourceLocation)
        #expect(prefs.ints == ["a": 1], sourceLocation: sourceLocation)
    }

    @Test func withAWriteThatIsRefused() {
        prefs["a"] = { 1 } as () -> Int
        #expect(prefs.outcome == "a: a closure cannot be stored in a property list")
        expectTold("a: a closure cannot be stored in a property list")
    }

    @Test func withAChangeInPlace() {
        prefs.values["a"] = 1
        #expect(prefs.outcome.hasSuffix("the last good state was restored"))
        expectTold()
    }

    @Test func withAChangeInPlaceThatThrows() {
        func change(_ values: inout [String: Any]) throws { throw Stop() }
        #expect(throws: Stop.self) { try change(&prefs.values) }
        expectTold()
    }

    @Test func withAFlushThatFindsNothing() throws {
        try FileManager.default.removeItem(at: folder.file(".test.plist.lastgood"))
        prefs.flush()
        #expect(prefs.outcome == "nothing is stored under the root key \"AnyPrefs\"")
        #expect(prefs.errors.count == 2)
        #expect(prefs.errors.first?.hasSuffix("there was no last good state") == true)
    }

    @Test func withAnUpdateThatThrows() {
        #expect(throws: Stop.self) { try prefs.update { throw Stop() } }
        _ = prefs.values
        #expect(prefs.errors.contains { $0.hasSuffix("the last good state was restored") })
    }
}
