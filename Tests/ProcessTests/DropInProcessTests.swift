import Foundation
import TestSupport
import Testing

/// `groupID` and `userDefaults` of the drop-in class select files, so they need their own home.
@Suite final class DropInProcessTests: ProbeSuite {
    @Test func groupsAndInjectedUserDefaultsSelectTheStore() throws {
        let result = try probe("drop-in")
        #expect(result.output == "done\n", "\(result.errors)")
        let files = try names().filter { !$0.hasPrefix(".") }
        #expect(files == ["Probe.plist", "probe.group.plist", "probe.injected.plist", "probe.other.plist"])
    }
}
