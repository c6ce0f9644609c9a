import Foundation
import PersistentPreferences
import PrefsPropertyLists
import TestSupport
import Testing

@testable import PrefsTool

/// A change that the user has not agreed to is not made, also if it becomes risky only under the lock.
@Suite struct ChangeRiskTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Sets `k` to 5. Another program writes the file after the change was rehearsed, before the file is locked.
    private func change(_ words: [String], whileOthersWrite theirs: [String: Any]) throws -> Outcome {
        let file = folder.file()
        try writePropertyList(["k": 1], to: file)
        let invocation = try Invocation(["set", "-f", file.path, "k", "5"] + words, of: AppPrefs.program)
        let place = try Place(entriesOf: .file(file.path), in: AppPrefs.program)
        var isFirst = true
        return try place.change(invocation) { values, _ in
            values["k"] = .integer(5)
            guard isFirst else { return }
            isFirst = false
            try writePropertyList(theirs, to: file)
        }
    }

    private func stored() throws -> [String: Any]? {
        try PropertyListSerialization.propertyList(from: Data(contentsOf: folder.file()), format: nil) as? [String: Any]
    }

    @Test func aRiskThatComesUpUnderTheLockStopsTheChange() throws {
        let error = #expect(throws: CommandError.self) { try change([], whileOthersWrite: ["k": ["a": 1]]) }
        let risk = "the dictionary `k` would become a value of type integer"
        #expect(error.map { "\($0)" } == "\(risk); --force does it; nothing has changed")
        #expect(try (stored()?["k"] as? [String: Int]) == ["a": 1])
    }

    @Test func otherwiseItIsMade() throws {
        _ = try change(["--force"], whileOthersWrite: ["k": ["a": 1]])
        #expect(try stored()?["k"] as? Int == 5)
        _ = try change([], whileOthersWrite: ["k": 2, "l": 3])
        #expect(try stored() as? [String: Int] == ["k": 5, "l": 3])
    }
}
