import Foundation
import PrefsJSON
import PrefsLayers
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsSupport

/// A folder with one file for each key, as of Docker, Kubernetes and systemd.
@Suite(.waits) struct SecretsFolderTests {
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

    private let folder = TemporaryFolder.fresh
    /// The folder of the layer.
    private var secrets: URL { folder.file("secrets") }

    init() throws {
        try FileManager.default.createDirectory(at: secrets, withIntermediateDirectories: false)
        chmod(secrets.path, 0o755)
    }

    private func put(_ text: String, _ name: String, mode: mode_t = 0o644) throws {
        let path = secrets.appending(path: name).path
        try Data(text.utf8).write(to: URL(filePath: path))
        chmod(path, mode)
    }

    private func prefs(above: [PrefsLayer]? = nil, below: [PrefsLayer] = []) -> SecretPrefs {
        let base = PrefsStore.json(url: folder.file("base.json"), durability: .crash)
        return SecretPrefs(store: .layered(base, above: above ?? [.folder(secrets)], below: below))
    }

    private func place(_ name: String) -> String { "\(name) in \(secrets.path)" }

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

    // MARK: - Changes

    /// Each state has the same size, and most are written within one tick of the clock.
    @Test func eachReadSeesTheLastWrite() throws {
        let prefs = prefs()
        let path = secrets.appending(path: "DB_PASSWORD").path
        for number in 100..<400 {
            let file = try #require(fopen(path, "w"))
            fputs("\(number)", file)
            fclose(file)
            guard prefs.dbPassword == "\(number)" else {
                Issue.record("read \(prefs.dbPassword) after \(number)")
                return
            }
        }
    }

    /// Lays the secrets out as Kubernetes does: each name is a link through `..data`, a link to a hidden folder.
    private func layOut(_ names: [String]) throws {
        for name in names {
            try FileManager.default.createSymbolicLink(
                atPath: secrets.appending(path: name).path, withDestinationPath: "..data/\(name)")
        }
    }

    /// The script of another process, which exchanges `..data` in one step for each number that it reads.
    private static let exchange = """
        set -e; cd "$0"
        while read -r n; do
            mkdir -m 755 "..2026_$n"; printf "$n\\n" >"..2026_$n/DB_PASSWORD"; printf "$n" >"..2026_$n/PORT"
            ln -s "..2026_$n" ..data_tmp; mv -T ..data_tmp ..data
            rm -rf "..2026_$((n - 1))"
            [ "$n" != "$2" ] || exit 0
        done <"$1"
        """

    /// - Parameters:
    ///   - numbers: the file, or the pipe, with the numbers.
    ///   - last: the one after which the process ends.
    private func exchange(_ numbers: String, until last: Int) throws -> Child {
        try Child(
            URL(filePath: "/bin/sh"), ["-c", Self.exchange, secrets.path, numbers, "\(last)"],
            environment: ["PATH": "/usr/bin:/bin"])
    }

    private func exchange(to number: Int) throws {
        let numbers = folder.file("numbers")
        try Data("\(number)\n".utf8).write(to: numbers)
        #expect(try exchange(numbers.path, until: number).wait().code == 0)
    }

    @Test func anExchangeOfTheDataLinkIsTold() throws {
        try exchange(to: 1)
        try layOut(["DB_PASSWORD", "PORT"])
        let prefs = prefs()
        let (passwords, ports) = (prefs.$dbPassword.observer(), prefs.$port.observer())
        #expect(prefs.dbPassword == "1" && prefs.port == 1 && prefs.problems() == [])
        try exchange(to: 2)
        #expect(passwords.wait(for: 1) == [["1", "2"]])
        #expect(ports.wait(for: 1) == [[1, 2]])
        #expect(prefs.dbPassword == "2" && prefs.port == 2 && prefs.problems() == [])
    }

    /// The other process begins the next exchange when the last one was read: whatever the load, each read meets one at most.
    @Test func allValuesAreOfOneState() throws {
        try exchange(to: 1)
        try layOut(["DB_PASSWORD", "PORT"])
        let prefs = prefs()
        let pipe = folder.file("pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        // For reading, too, so that it opens before the other process does.
        let numbers = try #require(FileHandle(forUpdatingAtPath: pipe))
        let writer = try exchange(pipe, until: 150)
        var (last, begun) = (1, 1)
        let deadline = Patience.deadline
        while last < 150, ContinuousClock.now < deadline {
            if begun == last {
                begun += 1
                try numbers.write(contentsOf: Data("\(begun)\n".utf8))
            }
            let (password, port) = prefs.read { (prefs.dbPassword, prefs.port) }
            guard password == "\(port)", port >= last else {
                Issue.record("read \(password) and \(port) after \(last)")
                break
            }
            last = port
        }
        #expect(try writer.wait().code == 0 && last == 150)
    }

    /// The file is elsewhere, and is written in place.
    @Test func aChangeBehindALinkIsTold() throws {
        try FileManager.default.createDirectory(at: folder.file("elsewhere"), withIntermediateDirectories: false)
        let file = folder.file("elsewhere/password")
        try Data("one".utf8).write(to: file)
        chmod(file.path, 0o600)
        try FileManager.default.createSymbolicLink(
            at: secrets.appending(path: "DB_PASSWORD"), withDestinationURL: file)
        let prefs = prefs()
        let heard = prefs.$dbPassword.observer()
        #expect(
            try Child(URL(filePath: "/bin/sh"), ["-c", "printf two >\"$0\"", file.path], environment: [:]).wait().code
                == 0)
        heard.wait { $0.last?.last == "two" }
        // The link may lead to another file later.
        let other = folder.file("elsewhere/other")
        try Data("three".utf8).write(to: other)
        chmod(other.path, 0o600)
        try FileManager.default.createSymbolicLink(at: secrets.appending(path: "new"), withDestinationURL: other)
        #expect(rename(secrets.appending(path: "new").path, secrets.appending(path: "DB_PASSWORD").path) == 0)
        heard.wait { $0.last?.last == "three" }
        #expect(
            try Child(URL(filePath: "/bin/sh"), ["-c", "printf four >\"$0\"", other.path], environment: [:]).wait().code
                == 0)
        heard.wait { $0.last?.last == "four" }
    }

    /// The folder itself is a link, which is exchanged.
    @Test func anExchangeOfTheFolderIsTold() throws {
        for number in 1...2 {
            let version = folder.file("version\(number)")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: false)
            try Data("\(number)".utf8).write(to: version.appending(path: "DB_PASSWORD"))
            let link = folder.file(number == 1 ? "link" : "new").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "version\(number)")
        }
        let prefs = prefs(above: [.folder(folder.file("link"))])
        let heard = prefs.$dbPassword.observer()
        #expect(prefs.dbPassword == "1")
        #expect(rename(folder.file("new").path, folder.file("link").path) == 0)
        heard.wait { $0.last == ["1", "2"] }
        // The files of the new folder are watched.
        try Data("3".utf8).write(to: folder.file("version2/DB_PASSWORD"), options: .atomic)
        heard.wait { $0.last == ["2", "3"] }
    }

    @Test func filesThatComeAndGoAreTold() throws {
        let prefs = prefs()
        let heard = prefs.$dbPassword.observer()
        for turn in 1...3 {
            try Data("\(turn)".utf8).write(to: secrets.appending(path: "DB_PASSWORD"), options: .atomic)
            heard.wait { $0.last == ["default", "\(turn)"] }
            try FileManager.default.removeItem(at: secrets.appending(path: "DB_PASSWORD"))
            heard.wait { $0.last == ["\(turn)", "default"] }
        }
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
