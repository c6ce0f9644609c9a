import Foundation
import TestSupport
import Testing

/// `groupID` and `userDefaults` of the drop-in class select files, so they need their own home.
@Suite struct DropInProcessTests {
    @Test func groupsAndInjectedUserDefaultsSelectTheStore() throws {
        let home = try TemporaryFolder()
        let result = try Child("Probe", ["drop-in"], home: home).wait()
        #expect(result.output == "done\n", "\(result.errors)")
        let files = try FileManager.default.contentsOfDirectory(atPath: home.file(".config").path)
            .filter { !$0.hasPrefix(".") }.sorted()
        #expect(files == ["Probe.plist", "probe.group.plist", "probe.injected.plist", "probe.other.plist"])
    }
}
