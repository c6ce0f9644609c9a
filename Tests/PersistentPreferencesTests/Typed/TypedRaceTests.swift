@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import Testing
import WriteOperations

/// Write while the type is decoded.
private enum Others { @TaskLocal static var interruption: Interruption? }

private struct Style: Codable, Equatable {
    var weight = 400

    private enum CodingKeys: CodingKey { case weight }

    init(weight: Int = 400) {
        self.weight = weight
    }

    init(from decoder: any Decoder) throws {
        weight = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .weight)
        try Others.interruption?.runOnce()
    }
}

private final class StylePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var style = Style()
    @Pref var other = 0
}

/// Writes of another program under the key of a property, between the comparison of a write and its commit.
@Suite struct TypedRaceTests {
    /// A change in place decodes the value before the write.
    private static let operations =
        WriteOperation.of(.property).filter { $0.effect == .puts && $0 != .propertyInPlace }
        + WriteOperation.allCases.filter(\.isOfAccesses)

    private static let late: [[String: Int]?] = [
        ["weight": 1, "late": 5], ["weight": 1], ["weight": 7, "early": 2], ["weight": 700, "late": 5], nil,
    ]

    @Test(arguments: operations, late)
    func unknownFieldsAreThoseOfTheCommit(_ operation: WriteOperation, _ late: [String: Int]?) async throws {
        let store = PrefsStore.memory()
        try store.update(root: "Root") { $0 = ["style": ["weight": 1, "early": 1], "other": 1] }
        let prefs = StylePrefs(key: "Root", store: store)
        let interruption = Interruption { try store.update(root: "Root") { $0?["style"] = late } }
        if operation.isTransaction { try interruption.runOnce() }
        let target = WriteTarget(prefs, \.style, \.$style, to: Style(weight: 700))
        await Others.$interruption.withValue(interruption) {
            #expect(await target.perform(operation) == nil)
        }
        #expect(prefs.lastError == nil)
        let expected: [String: Any] = ["style": (late ?? [:]).merging(["weight": 700]) { $1 }, "other": 1]
        #expect(try store.read(root: "Root") as NSDictionary? == expected as NSDictionary)
    }
}
