import Foundation
import PropertyListSupport
import Testing

@testable import EngineSupport
@testable import PrefsPropertyLists

/// Runs the findings and the seeds of the fuzzers of bytes again. Nothing crashes, and every promise holds.
@Suite struct CorpusTests {
    @Test func everyInputIsSurvived() throws {
        var replay = CorpusReplay()
        try replay.add(filesIn: "Damaged", of: .module)
        #expect(replay.count == 10)
        try replay.add(filesIn: "Corpus/bytes", of: .module)
        replay.add("bytes", try FuzzSeeds.bytes())
        replay.run("files", BytesCheck.run)
    }

    @Test func everyDamagedFileIsRefused() throws {
        let files = Bundle.module.urls(forResourcesWithExtension: "plist", subdirectory: "Damaged") ?? []
        #expect(files.count == 10)
        for file in files {
            let bytes = try Data(contentsOf: file as URL)
            #expect(throws: DecodingFailure.self, "\(file)") { try PropertyListCoder.decode(bytes) }
        }
    }
}
