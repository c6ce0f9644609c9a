import Foundation
import PrefsJSON
import PrefsLayers
import Testing
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsSupport

private struct Host: Codable, Equatable {
    struct Limits: Codable, Equatable { var most: Int? = 5, least = 1 }

    var limits = Limits()
    var port: Int? = 80
    var size = 1
}

private final class HostPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.merged) var host = Host()
}

/// Fields of a merged struct that its class does not know.
@Suite struct SectionUnknownFieldsTests {
    private let folder = TemporaryFolder.fresh

    /// nil is a null in the file, in the struct and in a struct of the struct.
    @Test(arguments: ["most", "port"], [false, true])
    func unknownFieldsBesideNilStay(_ name: String, isLayered: Bool) throws {
        func text(_ least: Int, _ size: Int) -> String {
            let (most, port) = name == "most" ? ("null", "80") : ("5", "null")
            let limits = #"{"most": \#(most), "least": \#(least), "later": 7}"#
            return #"{"host": {"limits": \#(limits), "port": \#(port), "size": \#(size), "next": 8}}"#
        }
        let url = folder.file("base.json")
        try Data(text(1, 1).utf8).write(to: url)
        let store = PrefsStore.json(url: url)
        let layers = [PrefsLayer.file(folder.file("system.json"))]
        let prefs = HostPrefs(store: isLayered ? .layered(store, below: layers) : store)
        prefs.host.size = 2
        #expect(try String(contentsOf: url, encoding: .utf8) == text(1, 2))
        prefs.host.limits.least = 3
        #expect(try String(contentsOf: url, encoding: .utf8) == text(3, 2))
        let (most, port) = name == "most" ? (nil, 80) : (5, nil)
        #expect(prefs.host == Host(limits: .init(most: most, least: 3), port: port, size: 2) && prefs.lastError == nil)
    }
}
