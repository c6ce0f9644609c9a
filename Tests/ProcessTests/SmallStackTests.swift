import Foundation
import TestSupport
import Testing

/// Values with as many levels as the limits allow, on threads with a small stack.
@Suite(.waits) final class SmallStackTests: ProbeSuite {
    #if DEBUG
        private static let kibibytes = "448"
    #else
        private static let kibibytes = "80"
    #endif

    @Test(arguments: ["plist", "xml", "json"]) func deepValuesAreReadAndWritten(_ format: String) throws {
        let result = try probe("nesting", Self.kibibytes, home.file("test.\(format)").path)
        #expect(result.code == 0 && result.output.hasSuffix("\ndone\n"), "\(result.output)\(result.errors)")
        #expect(!result.output.contains("; "), "an error: \(result.output)")
    }
}
