import PropertyListSupport
import Testing

@testable import EngineSupport

/// Runs the findings and the seeds of the fuzzer of values again.
@Suite struct CorpusValuesTests {
    @Test func everyInputIsSurvived() throws {
        var replay = CorpusReplay()
        try replay.add(filesIn: "Corpus/values", of: .module)
        replay.add("values", FuzzSeeds.choices())
        replay.run("values", ValueCheck.run)
    }
}
