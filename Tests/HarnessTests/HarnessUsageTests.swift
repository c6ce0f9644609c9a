import TestSupport
import Testing

/// Usage errors: exit code 64, one line that says how to correct the arguments, and no file is touched.
@Suite final class HarnessUsageTests: HarnessSuite {
    @Test func anArgumentThatIsNotUTF8IsRejected() throws {
        let printed = try home.bash("exec prefs -f \"$(printf '\\377').plist\" set int 1")
        #expect(printed == .usageError("an argument is not valid UTF-8"))
        #expect(try home.folder.names().isEmpty)
    }
}
