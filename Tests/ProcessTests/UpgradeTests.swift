import Foundation
import TestSupport
import Testing

/// Two versions of a program run against one file at the same time, in both directions, and lose nothing.
@Suite final class UpgradeTests: ProbeSuite {
    @Test(arguments: [true, false]) func bothVersionsWriteAtOnce(newStartsFirst: Bool) throws {
        let turns = 100
        let first = try Child("Probe", ["upgrade", newStartsFirst ? "new" : "old", "\(turns)"], home: home)
        let second = try Child("Probe", ["upgrade", newStartsFirst ? "old" : "new", "\(turns)"], home: home)
        for child in [first, second] {
            let result = try child.wait()
            #expect(result.output == "\(turns) \(turns)\n", "\(result.errors)")
        }
        let root = try #require(try propertyList(at: domain)["EditorPrefs"] as? [String: Any])
        #expect(root["turns"] as? Int == turns && root["newTurns"] as? Int == turns)
        let window: NSDictionary = ["width": turns, "height": turns, "title": "untitled"]
        #expect(root["window"] as? NSDictionary == window)
        #expect(root["windows"] as? NSDictionary == ["main": window])
    }
}
