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

    private static let damaged: [URL] =
        (Bundle.module.urls(forResourcesWithExtension: "plist", subdirectory: "Damaged") ?? []).map { $0 as URL }

    @Test func thereAreDamagedFiles() {
        #expect(Self.damaged.count == 10)
    }

    @Test(arguments: damaged) func aDamagedFileIsRefused(_ file: URL) throws {
        let bytes = try Data(contentsOf: file)
        #expect(throws: DecodingFailure.self) { try PropertyListCoder.decode(bytes) }
    }
}
