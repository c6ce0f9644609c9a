@testable import PrefsSupport
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import PrefsStoreKit
import Testing

/// The library of `LibrarySample.swift`, as programs use it.
@Suite struct LibrarySampleTests {
    private static let root = "org.example.MailKit"

    private let folder = TemporaryFolder.fresh

    @Test func theProgramOrTheTestChoosesTheStore() throws {
        let (given, ofTest) = (PrefsStore.memory(), PrefsStore.memory())
        PersistentPrefs.withStore(ofTest) {
            #expect(Mailer(store: given).setSender("ann") == nil)
            #expect(Mailer().setSender("bob") == nil)
        }
        #expect(try given.read(root: Self.root)?["sender"] as? String == "ann")
        #expect(try ofTest.read(root: Self.root)?["sender"] as? String == "bob")
    }

    /// As in the article: one file, a root for each, and layers of its own for the library.
    @Test func theProgramAndTheLibraryShareAFile() throws {
        final class ToolPrefs: PersistentPrefs, @unchecked Sendable {
            @Pref var columns = 80
        }
        let file = PrefsStore.json(url: folder.file("config.json"), layout: .roots)
        let variables = ["MYTOOL_COLUMNS": "100", "MAILKIT_BATCH": "7"]
        let tool = ToolPrefs(
            store: .layered(file, above: [.environment(prefix: "MYTOOL_", in: variables)]))
        let mailer = Mailer(
            store: .layered(file, above: [.environment(prefix: "MAILKIT_", in: variables)]))

        #expect(mailer.setSender("ann") == nil)
        #expect(mailer.batch == 7 && tool.columns == 100)
        #expect(tool.problems().isEmpty)
        #expect(try file.read(root: Self.root)?["sender"] as? String == "ann")
    }
}
