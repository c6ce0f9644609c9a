import EngineSupport
import Foundation
import TestSupport
import Testing

/// The example of a tool that remembers its options, run as a process.
@Suite(.waits) struct WordsTests {
    private let home: TemporaryFolder
    private let text: String

    init() throws {
        home = try TemporaryFolder()
        text = home.file("text").path(percentEncoded: false)
        try Data("To be, or not to be: that is the question. Be that as it may; BE.".utf8).write(to: home.file("text"))
    }

    private func words(_ arguments: String...) throws -> (lines: [String], errors: String, code: Int32) {
        let result = try Child("Words", arguments, home: home).wait()
        return (result.output.split(separator: "\n").map(String.init), result.errors, result.code)
    }

    @Test func optionsOfOneRunAreThoseOfTheNext() throws {
        #expect(try words(text).lines.count == 10)
        #expect(try home.names() == ["text"], "without an option there is nothing to write")
        #expect(try words("--top", "2", "--min-length", "3", text).lines == ["2 that", "1 may"])
        #expect(try words(text).lines == ["2 that", "1 may"])
        #expect(try words("--min-length", "2", text).lines == ["4 be", "2 that"])
        #expect(try words("--match-case", text).lines == ["2 be", "2 that"])
        #expect(try words(text).lines == ["2 be", "2 that"])
        #expect(try words("--forget").code == 0)
        #expect(try words(text).lines.prefix(2) == ["4 be", "2 that"])
        #expect(try words(text).lines.count == 10)
    }

    @Test(arguments: [
        (["--top", "0"], Int32(1), "Words: top: must be in 1...1000\n"),
        (["--min-length", "5", "--top", "many"], 64, "Words: usage: Words [--top N]"),
        (["--min-length", "5", "--nonsense"], 64, "Words: usage: Words [--top N]"),
    ])
    func ifOneOptionIsRejectedNoneIsRemembered(_ arguments: [String], _ code: Int32, _ message: String) throws {
        _ = try words("--top", "1")
        let refused = try Child("Words", arguments, home: home).wait()
        #expect(refused.code == code)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.hasPrefix(message), "\(refused.errors)")
        #expect(try words(text).lines == ["4 be"])
    }
}
