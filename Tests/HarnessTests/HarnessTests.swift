import Foundation
import TestSupport
import Testing

@Suite struct HarnessTests {
    @Test func showsAValueThatWasSet() throws {
        let home = try TemporaryFolder()
        #expect(try Child("prefs", ["set", "int", "42"], home: home).wait().code == 0)
        #expect(try Child("prefs", ["get", "int"], home: home).wait().output == "42\n")
    }
}
