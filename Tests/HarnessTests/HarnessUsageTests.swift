import Foundation
import TestSupport
import Testing

/// Usage errors: exit code 64, one line that says how to correct the arguments, and no file is touched.
@Suite struct HarnessUsageTests {
    @Test func anArgumentThatIsNotUTF8IsRejected() throws {
        let home = try HarnessHome()
        let prefs = try Child.executable("prefs").path
        let script = "exec \"$0\" -f \"$(printf '\\377').plist\" set int 1"
        let shell = try Child(
            URL(filePath: "/bin/sh"), ["-c", script, prefs], environment: ["HOME": home.folder.path])
        #expect(Printed(try shell.wait()) == .usageError("an argument is not valid UTF-8"))
        #expect(try home.folder.names().isEmpty)
    }
}
