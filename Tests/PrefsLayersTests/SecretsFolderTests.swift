import Foundation
import PrefsJSON
import PrefsLayers
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsSupport

/// What the files of such a folder say, and what is wrong with them.
@Suite(.waits) final class SecretsFolderTests: SecretsFolderSuite {
    // MARK: - Names and texts

    @Test func aFileIsReadAsAVariableWithoutAPrefixIs() throws {
        try put("hunter2\n", "DB_PASSWORD")
        try put("5432", "port")
        try put("a,b\n", "HOSTS")
        try put("k", "api.key")
        try put("text", "plain")
        try put("9", "SERVER_PORT")
        try put("db", "server.host")
        let prefs = prefs()
        #expect(
            prefs.dbPassword == "hunter2" && prefs.port == 5432 && prefs.hosts == ["a", "b"] && prefs.apiKey == "k")
        #expect(prefs["plain"] as? String == "text" && prefs.server == Server(host: "db", port: 9))
        #expect(prefs.$dbPassword.source == .layer(secrets.path))
        #expect(prefs.problems() == [] && prefs.lastError == nil)
    }

    @Test(arguments: [
        ("a", "a"), ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("\na", "\na"), ("a\r", "a\r"), (" a ", " a "),
        ("\n\n", "\n"),
    ])
    func oneLineEndIsCut(_ text: String, _ value: String) throws {
        try put(text, "TOKEN")
        #expect(prefs().token == value)
    }

    /// As an empty variable.
    @Test(arguments: ["", "\n", "\r\n"]) func anEmptyFileIsNilOfAnOptional(_ text: String) throws {
        for name in ["TOKEN", "DB_PASSWORD", "HOSTS"] { try put(text, name) }
        let prefs = prefs(below: [.values(["token": "below"])])
        #expect(prefs.token == nil && prefs.dbPassword == "" && prefs.hosts == [])
    }

    @Test func theNameOfTheKeyCountsIfBothExist() throws {
        try put("derived", "DB_PASSWORD")
        try put("exact", "dbPassword")
        let prefs = prefs()
        #expect(prefs.dbPassword == "exact")
        #expect(
            prefs.problems().map(\.description) == [
                "\(place("DB_PASSWORD")): ignored, because dbPassword is set, too"
            ])
    }

    @Test func hiddenFilesAreNoKeys() throws {
        try put("x", ".hidden")
        try put("x", "..data")
        #expect(prefs().hidden == "shown" && prefs().problems() == [])
    }

    @Test func onlyANameThatResemblesAKeyIsAProblem() throws {
        try put("x", "DB_PASWORD")
        try put("x", "db_password")
        try put("x", "tls.crt")
        try FileManager.default.createDirectory(
            at: secrets.appending(path: "kubernetes.io"), withIntermediateDirectories: false)
        let problems = prefs().problems()
        #expect(
            problems.map(\.description)
                == ["DB_PASWORD", "db_password"].map {
                    "\(place($0)): no key has this file; did you mean \"DB_PASSWORD\"?"
                })
        #expect(problems.allSatisfy { $0.kind == .unknownKey && $0.source == .layer(secrets.path) })
    }

    @Test func keysWithOneNameGetNoFile() throws {
        final class TwinPrefs: PersistentPrefs, @unchecked Sendable {
            @Pref var aB = 1
            @Pref("a-b") var other = 2
        }
        try put("9", "A_B")
        let prefs = TwinPrefs(store: .layered(.memory(), above: [.folder(secrets)]))
        #expect(prefs.aB == 1 && prefs.other == 2)
        #expect(
            prefs.lastError.map { "\($0)" }
                == "layer \(secrets.path): A_B: the keys \"aB\" and \"a-b\" have one file; give one of them another key; ignored"
        )
        // Each has the name of its key.
        try put("7", "a-b")
        #expect(prefs.other == 7)
    }

    // MARK: - Faults

    @Test(arguments: ["a folder", "a FIFO", "a loop", "bytes", "huge"])
    func aFileThatCannotBeReadIsAProblemOfItsKey(_ fault: String) throws {
        let path = secrets.appending(path: "DB_PASSWORD").path
        let reason: String
        switch fault {
        case "a folder":
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            reason = "is a folder"
        case "a FIFO":
            #expect(mkfifo(path, 0o644) == 0)
            reason = "is a FIFO"
        case "a loop":
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "DB_PASSWORD")
            reason = "Too many levels of symbolic links; expected a link that leads to a file"
        case "bytes":
            try Data([0x61, 0xFF]).write(to: URL(filePath: path))
            reason = "is not UTF-8"
        default:
            try put("", "DB_PASSWORD")
            #expect(truncate(path, 1 << 20 + 1) == 0)
            reason = "larger than 1 MiB"
        }
        chmod(path, 0o644)
        try put("1", "PORT")
        let prefs = prefs(below: [.values(["dbPassword": "below"])])
        #expect(prefs.dbPassword == "below" && prefs.port == 1)
        #expect(prefs.problems().map(\.description) == ["\(place("DB_PASSWORD")): \(reason)"])
        _ = prefs.dbPassword
        #expect(prefs.lastError.map { "\($0)" } == "layer \(secrets.path): DB_PASSWORD: \(reason); ignored")
        // A file that takes its place is read.
        try FileManager.default.removeItem(atPath: path)
        try put("now", "DB_PASSWORD")
        #expect(prefs.dbPassword == "now" && prefs.lastError == nil && prefs.problems() == [])
    }

    @Test(
        .enabled(
            if: Hazard.canRun(
                "secrets: a file that must not be read", if: geteuid() != 0, else: "root reads every file")))
    func aFileThatMustNotBeReadIsAProblem() throws {
        try put("x", "DB_PASSWORD", mode: 0)
        let prefs = prefs()
        #expect(prefs.dbPassword == "default")
        #expect(prefs.problems().map(\.description) == ["\(place("DB_PASSWORD")): Permission denied"])
        chmod(secrets.appending(path: "DB_PASSWORD").path, 0o600)
        #expect(prefs.dbPassword == "x" && prefs.lastError == nil)
    }

    /// The largest file that is read has a byte less.
    @Test func aFileOfTheLargestSizeIsRead() throws {
        try put(String(repeating: "x", count: 1 << 20), "DB_PASSWORD")
        #expect(prefs().dbPassword.utf8.count == 1 << 20)
    }

    @Test func aMissingFolderIsAnEmptyLayerUntilItComes() throws {
        let missing = folder.file("a").appending(path: "b")
        let prefs = prefs(above: [.folder(missing)])
        let heard = prefs.$dbPassword.observer()
        #expect(prefs.dbPassword == "default" && prefs.problems() == [] && prefs.lastError == nil)
        try FileManager.default.createDirectory(at: missing, withIntermediateDirectories: true)
        chmod(missing.path, 0o755)
        try Data("come".utf8).write(to: missing.appending(path: "DB_PASSWORD"), options: .atomic)
        heard.wait { $0.last == ["default", "come"] }
        try FileManager.default.removeItem(at: missing)
        heard.wait { $0.last == ["come", "default"] }
        #expect(prefs.problems() == [])
    }

    @Test func aFileInPlaceOfTheFolderIsAFault() throws {
        let prefs = prefs(above: [.folder(folder.file("file"))])
        try Data("x".utf8).write(to: folder.file("file"))
        #expect(prefs.problems().map(\.description) == ["\(folder.file("file").path): is not a folder"])
        #expect(prefs.problems().map(\.kind) == [.store] && prefs.dbPassword == "default")
        #expect(prefs.lastError.map { "\($0)" } == "layer \(folder.file("file").path): is not a folder; ignored")
    }

    @Test func theURLMayEndWithASlashOrBeALink() throws {
        try put("x", "DB_PASSWORD")
        try FileManager.default.createSymbolicLink(atPath: folder.file("link").path, withDestinationPath: "secrets")
        let slash = URL(filePath: secrets.path + "/", directoryHint: .isDirectory)
        let relative = URL(filePath: "secrets/", directoryHint: .isDirectory, relativeTo: folder.url)
        for url in [slash, relative, folder.file("link")] {
            let layer = PrefsLayer.folder(url)
            #expect(layer.name == (url == folder.file("link") ? url.path : secrets.path))
            #expect(prefs(above: [layer]).dbPassword == "x")
        }
        let other = PrefsLayer.folder(try #require(URL(string: "https://example.org/a/")))
        #expect(prefs(above: [other]).problems().map(\.description) == ["https://example.org/a/: is not a file URL"])
    }

    // MARK: - Who may write

    @Test(arguments: [0o666, 0o664, 0o602, 0o777] as [mode_t])
    func aFileThatOthersMayWriteIsAProblemAndUsed(_ mode: mode_t) throws {
        try put("x", "DB_PASSWORD", mode: mode)
        try put("x", "unrelated", mode: 0o666)
        let prefs = prefs()
        let heard = prefs.errorObserver()
        #expect(prefs.dbPassword == "x" && prefs.lastError == nil)
        let octal = String(mode, radix: 8)
        let text = "\(place("DB_PASSWORD")): other users may write it (mode \(octal)); run chmod go-w"
        #expect(prefs.problems().map(\.description) == [text] && prefs.problems().map(\.kind) == [.permissions])
        #expect(heard.all == [text])
        chmod(secrets.appending(path: "DB_PASSWORD").path, 0o444)
        #expect(prefs.problems() == [])
        // A file of a field.
        try put("5", "SERVER_PORT", mode: mode)
        #expect(prefs.server.port == 5)
        #expect(
            prefs.problems().map(\.description) == [text.replacing("DB_PASSWORD", with: "SERVER_PORT")])
    }

    @Test(arguments: [0o600, 0o644, 0o444, 0o755] as [mode_t])
    func allMayReadAFile(_ mode: mode_t) throws {
        try put("x", "DB_PASSWORD", mode: mode)
        #expect(prefs().problems() == [])
    }

    /// The folder of Kubernetes has the sticky bit.
    @Test func aFolderWhoseFilesOthersMayExchangeIsAProblem() throws {
        try put("x", "DB_PASSWORD")
        let prefs = prefs()
        chmod(secrets.path, 0o777)
        #expect(
            prefs.problems().map(\.description) == [
                "\(secrets.path): other users may write it (mode 777); run chmod go-w"
            ])
        #expect(prefs.dbPassword == "x" && prefs.lastError == nil)
        chmod(secrets.path, 0o1777)
        #expect(prefs.problems() == [])
    }

    // MARK: - Secrecy

    @Test func noChannelShowsAValue() throws {
        try put("hunter2", "DB_PASSWORD")
        try put("hunter2", "PORT")
        try put("hunter2", "checked")
        try put(#"{"hunter2": "hunter2"}"#, "LIMITS")
        try put("hunter2", "SERVER_PORT")
        try put("hunter2", "server.host")
        try put("hunter2", "plain")
        let store = PrefsStore.layered(.memory(), above: [.folder(secrets)])
        let prefs = SecretPrefs(store: store)
        let heard = prefs.errorObserver()
        #expect(
            prefs.dbPassword == "hunter2" && prefs.server.host == "hunter2" && prefs["plain"] as? String == "hunter2")
        var texts = [prefs.description, "\(prefs)", "\(prefs.$dbPassword)", "\(store)"]
        texts += prefs.problems().map(\.description) + prefs.problems().map { "\($0.error)" } + heard.all
        texts += prefs.describe().map(\.description)
        for _ in 0..<2 {
            _ = prefs.values
            let error = try #require(prefs.lastError)
            texts.append("\(error)")
        }
        let rejection = try #require(prefs.$dbPassword.set("other"))
        texts.append("\(rejection)")
        let values: [Any] = [prefs, prefs.$dbPassword, store, PrefsLayer.folder(secrets), prefs.problems()]
        for value in values {
            var text = ""
            dump(value, to: &text)
            texts.append(text)
        }
        let exported = try #require(prefs.exported(as: .json))
        texts.append(String(decoding: exported, as: UTF8.self))
        for text in texts { #expect(!text.contains("hunter2"), "\(text)") }
        #expect(
            prefs.problems().map(\.description).sorted() == [
                "\(place("LIMITS")): expected Int, found a string",
                "\(place("PORT")): expected Int, found another text",
                "\(place("SERVER_PORT")): expected Int, found a string",
                "\(place("checked")): must be accepted by a check",
            ])
        #expect(
            prefs.describe().filter(\.isSensitive).map(\.name) == ["dbPassword", "port", "server", "checked", "limits"])
        #expect(prefs.description.contains("dbPassword: •••") && prefs.description.contains("plain: •••"))
        // The class knows nothing of the layers of an instance.
        #expect(SecretPrefs.describe().allSatisfy { !$0.isSensitive })
    }

    private enum Level: String, CaseIterable { case low, high }

    private final class ChoicePrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var level = Level.low
        @Pref(.in(["light", "dark"])) var theme = "light"
    }

    /// The choices are shown, which the class declares.
    @Test func aTextThatIsNoChoiceIsNotQuoted() throws {
        for name in ["LEVEL", "THEME"] { try put("hunter2", name) }
        let prefs = ChoicePrefs(store: .layered(.memory(), above: [.folder(secrets)]))
        #expect(
            prefs.problems().map(\.description).sorted() == [
                "\(place("LEVEL")): expected one of low, high, found another text",
                "\(place("THEME")): must be one of light, dark",
            ])
    }

    /// A value may still be shown to a person who watches.
    @Test func aKeyStaysSecretWithoutItsFile() throws {
        try put("hunter2", "DB_PASSWORD")
        let prefs = prefs()
        #expect(prefs.isSensitive("dbPassword") && !prefs.isSensitive("token"))
        try FileManager.default.removeItem(at: secrets.appending(path: "DB_PASSWORD"))
        #expect(prefs.dbPassword == "default" && prefs.isSensitive("dbPassword"))
    }

    /// Of two folders, each hides its own keys, in each place among the layers.
    @Test(arguments: [0, 1, 2], [false, true]) func eachOfSeveralFoldersHidesItsKeys(_ above: Int, _ isExchanged: Bool)
        throws
    {
        let more = folder.file("more")
        try FileManager.default.createDirectory(at: more, withIntermediateDirectories: false)
        chmod(more.path, 0o755)
        try put("hunter2", "DB_PASSWORD")
        try Data("hunter2".utf8).write(to: more.appending(path: "API_KEY"))
        chmod(more.appending(path: "API_KEY").path, 0o600)
        let folders = [PrefsLayer.folder(secrets), .folder(more)]
        let layers = isExchanged ? folders.reversed() : folders
        let prefs = prefs(above: Array(layers.prefix(above)), below: Array(layers.dropFirst(above)))
        #expect(prefs.dbPassword == "hunter2" && prefs.apiKey == "hunter2")
        #expect(prefs.isSensitive("dbPassword") && prefs.isSensitive("api.key") && !prefs.isSensitive("hosts"))
        #expect(!prefs.description.contains("hunter2"), "\(prefs)")
    }

    @Test func aSecretOfALayerBelowIsHiddenUnderAFieldAbove() throws {
        try put(#"{"host": "hunter2", "port": 1}"#, "SERVER")
        let prefs = prefs(above: [.environment(prefix: "A_", in: ["A_SERVER_PORT": "2"])], below: [.folder(secrets)])
        #expect(prefs.server == Server(host: "hunter2", port: 2))
        #expect(!prefs.description.contains("hunter2") && prefs.isSensitive("server"))
    }

    @Test func aWriteToAKeyOfTheFolderIsRejected() throws {
        try put("x", "DB_PASSWORD")
        let prefs = prefs()
        #expect(
            prefs.$dbPassword.set("y").map { "\($0)" }
                == "\"dbPassword\" is set by the layer \(secrets.path) (DB_PASSWORD); the stored state is unchanged")
        #expect(
            prefs.$dbPassword.set("x") == nil && !FileManager.default.fileExists(atPath: folder.file("base.json").path))
    }
}
