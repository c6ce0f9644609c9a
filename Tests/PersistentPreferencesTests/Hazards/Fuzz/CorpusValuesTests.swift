import Foundation
import PropertyListSupport
import Testing

@testable import EngineSupport

/// The values that the fuzzers have found, and those they begin with, once more.
@Suite struct CorpusValuesTests {
    @Test func everyInputIsSurvived() throws {
        var replay = CorpusReplay()
        try replay.add(filesIn: "Corpus/values", of: .module)
        replay.add("values", FuzzSeeds.choices())
        replay.run("values", ValueCheck.run)
    }
}
