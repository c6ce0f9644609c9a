@testable import PrefsSupport
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import TestSupport
import Testing

/// The library of `LibrarySample.swift`, as programs use it.
@Suite struct LibrarySampleTests {
    private static let root = "org.example.MailKit"

    private let folder = TemporaryFolder.fresh

    @Test func theProgramChoosesTheStore() throws {
        let store = InMemoryStore()
        #expect(Mailer(store: store).setSender("ann") == nil)
        #expect(try store.read(root: Self.root)?["sender"] as? String == "ann")
    }

    @Test func withoutAStoreItFollowsTheTestsStore() throws {
        let store = InMemoryStore()
        PersistentPrefs.withStore(store) { #expect(Mailer().setSender("ann") == nil) }
        #expect(try store.read(root: Self.root)?["sender"] as? String == "ann")
    }

    /// As in the article: one file, a root for each, and layers of its own for the library.
    @Test func theProgramAndTheLibraryShareAFile() throws {
        final class ToolPrefs: PersistentPrefs, @unchecked Sendable {
            @Pref var columns = 80
        }
        let file = JSONFileStore(url: folder.file("config.json"), layout: .roots)
        let variables = ["MYTOOL_COLUMNS": "100", "MAILKIT_BATCH": "7"]
        let tool = ToolPrefs(
            store: LayeredStore(file, above: [.environment(prefix: "MYTOOL_", in: variables)]))
        let mailer = Mailer(
            store: LayeredStore(file, above: [.environment(prefix: "MAILKIT_", in: variables)]))

        #expect(mailer.setSender("ann") == nil)
        #expect(mailer.batch == 7 && tool.columns == 100)
        #expect(tool.problems().isEmpty)
        #expect(try file.read(root: Self.root)?["sender"] as? String == "ann")
    }
}
