import Foundation
import PrefsJSON
import Testing
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsSettingsFiles

/// Who asks for the truth waits while another program saves the file; a read does not.
@Suite final class AskedTruthTests: FolderSuite {
    final class ToolPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var a = 0
        @Pref var b = 0
    }

    private let system = RecordingSystemCalls()

    private func prefs() -> ToolPrefs {
        ToolPrefs(
            store: .propertyList(
                url: url, format: .json, durability: .crash, layout: .flat, quarantinesMistakes: false,
                system: system))
    }

    /// Another program writes the file now.
    override func put(_ text: String) throws {
        try Data(text.utf8).write(to: url)
        system.age = (url.path, .zero)
    }

    private var pauses: Int { system.takeCalls().count { $0 == "pause" } }

    /// Another program writes the file in the pause with that number.
    private func put(_ text: String, inPause number: Int) {
        var pauses = 0
        system.onCall = { [unowned self] call in
            guard call == "pause" else { return }
            pauses += 1
            if pauses == number { #expect(throws: Never.self) { try put(text) } }
        }
    }

    private static let half = "{\n  \"a\": 2,\n"
    private static let whole = "{\n  \"a\": 2,\n  \"b\": 3\n}\n"

    @Test func problemsWaitForTheFile() throws {
        let prefs = prefs()
        prefs.a = 1
        try put(Self.half)
        _ = pauses
        #expect(prefs.a == 1 && prefs.lastError == nil && pauses == 0, "a read does not wait")
        put(Self.whole, inPause: 7)
        #expect(prefs.problems() == [] && pauses == 7)
        #expect(prefs.a == 2 && prefs.b == 3 && prefs.lastError == nil)
    }

    @Test func problemsTellWhatIsTrueInTheEnd() throws {
        let prefs = prefs()
        prefs.a = 1
        try put(Self.half)
        _ = pauses
        let problems = prefs.problems()
        #expect(pauses == 50 && problems.count == 1 && problems.first?.reason.contains("line 3") == true, "\(problems)")
        #expect(prefs.a == 1 && prefs.lastError.kind == "damaged")
        #expect(prefs.problems() == problems && pauses == 0)
    }

    /// A read reports it once. `problems()` lists it, although its own wait was the read that met it.
    @Test func problemsTellOfAnEmptiedFile() throws {
        let prefs = prefs()
        prefs.a = 1
        try FileManager.default.removeItem(at: folder.file(".tool.json.lastgood"))
        try put("")
        _ = pauses
        #expect(prefs.problems().map(\.reason).first?.contains("another program may be writing it") == true)
        #expect(pauses == 50)
        system.age?.time = .seconds(6)
        #expect(prefs.problems().map(\.reason).first?.contains("is empty, and had values before") == true)
        #expect(prefs.problems() == [] && pauses == 0)
    }

    /// A missing file that may come back.
    @Test func problemsWaitForAMissingFile() throws {
        let prefs = prefs()
        prefs.a = 1
        try FileManager.default.removeItem(at: url)
        system.age = (folder.path, .zero)
        _ = pauses
        #expect(prefs.a == 1 && prefs.lastError == nil && pauses == 0)
        put(Self.whole, inPause: 3)
        #expect(prefs.problems() == [] && pauses == 3 && prefs.b == 3)
    }

    // MARK: - Settings files

    private func document() throws -> PropertyListDocument {
        try PropertyListDocument(url: url, format: .json, system: system)
    }

    @Test func aSettingsFileIsLoadedWhenItIsWhole() throws {
        let document = try document()
        try document.write(.dictionary(["a": .integer(1)]))
        try put(Self.half)
        _ = pauses
        put(Self.whole, inPause: 7)
        let (root, failure, _) = try document.read()
        #expect(root == .dictionary(["a": .integer(2), "b": .integer(3)]) && failure == nil && pauses == 7)
    }

    @Test func aMistakeInASettingsFileIsToldInTheEnd() throws {
        let document = try document()
        try document.write(.dictionary(["a": .integer(1)]))
        try put(Self.half)
        _ = pauses
        let (root, failure, _) = try document.read()
        #expect(root == .dictionary(["a": .integer(1)]) && pauses == 50)
        #expect(failure.map { "\($0)" }?.contains("line 3") == true)
    }

    /// The limits of waits are for writes.
    @Test func aLoadHasNoTimeout() throws {
        let document = try document()
        try document.write(.dictionary(["a": .integer(1)]))
        try put(Self.half)
        put(Self.whole, inPause: 7)
        let (root, failure, _) = try LockWait.within(.zero) { try document.read() }
        #expect(root == .dictionary(["a": .integer(2), "b": .integer(3)]) && failure == nil)
    }
}
