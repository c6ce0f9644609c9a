import Foundation
import PrefsJSON
import PrefsLayers
import TestSupport

@testable import PersistentPreferences
@testable import PrefsSupport

/// A folder with one file for each key, as of Docker, Kubernetes and systemd.
class SecretsFolderSuite {
    struct Server: Codable, Equatable {
        var host = "localhost"
        var port = 80
    }

    final class SecretPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var dbPassword = "default"
        @Pref var token: String? = "given"
        @Pref(.in(1...65_535)) var port = 80
        @Pref var hosts = ["h"]
        @Pref("api.key") var apiKey = ""
        @Pref(".hidden") var hidden = "shown"
        @Pref var server = Server()
        @Pref(.check { $0 == "hunter2" ? "must not be hunter2" : nil }) var checked = "fine"
        @Pref var limits: [String: Int] = [:]

        override var allowedKeys: [String] { ["plain"] }
    }

    let folder = TemporaryFolder.fresh
    /// The folder of the layer.
    var secrets: URL { folder.file("secrets") }

    init() throws {
        try FileManager.default.createDirectory(at: secrets, withIntermediateDirectories: false)
        chmod(secrets.path, 0o755)
    }

    func put(_ text: String, _ name: String, mode: mode_t = 0o644) throws {
        let path = secrets.appending(path: name).path
        try Data(text.utf8).write(to: URL(filePath: path))
        chmod(path, mode)
    }

    func prefs(above: [PrefsLayer]? = nil, below: [PrefsLayer] = []) -> SecretPrefs {
        let base = PrefsStore.json(url: folder.file("base.json"), durability: .crash)
        return SecretPrefs(store: .layered(base, above: above ?? [.folder(secrets)], below: below))
    }

    func place(_ name: String) -> String { "\(name) in \(secrets.path)" }
}
