import PropertyListSupport
import Testing

@testable import EngineSupport

/// Runs the findings and the seeds of the fuzzers of bytes again. Nothing crashes, and every promise holds.
@Suite struct CorpusTests {
    @Test func everyInputIsSurvived() throws {
        var replay = CorpusReplay()
        try replay.add(filesIn: "Corpus/bytes", of: .module)
        replay.add("bytes", try FuzzSeeds.bytes())
        replay.run("files", BytesCheck.run)
    }
}
