import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import TestSupport
import Testing

@testable import PrefsTool

/// A value of a folder of secrets is hidden, although its property is not declared as sensitive.
@Suite(.waits) final class SecretsFolderToolTests: HarnessSuite {
    private final class ServerPrefs: Prefs, @unchecked Sendable {
        @Pref var password = "none"
        @Pref var name = "open"
        override var allowedKeys: [String] { ["plain"] }
    }

    override var program: Program? {
        let folder = home.folder
        return Program(name: "myapp prefs") { key, store in
            ServerPrefs(
                key: key, values: nil,
                store: .layered(
                    store ?? PrefsStore.json(url: folder.file("state.json")), above: [.folder(folder.file("secrets"))]))
        }
    }

    override init() throws {
        try super.init()
        let secrets = home.folder.file("secrets")
        try FileManager.default.createDirectory(at: secrets, withIntermediateDirectories: false)
        for name in ["PASSWORD", "plain"] {
            try Data("hunter2".utf8).write(to: secrets.appending(path: name))
            chmod(secrets.appending(path: name).path, 0o600)
        }
    }

    @Test(arguments: [
        ["show"], ["show", "--json"], ["show", "--sources"], ["find", "hunter"], ["export"], ["doctor"],
        ["help", "password"],
        ["get", "password"], ["get", "plain"], ["set", "password", "x"], ["schema"], ["show", "password"],
    ])
    func noCommandShowsIt(_ arguments: [String]) throws {
        let printed = try prefs(arguments)
        #expect(!(printed.output + printed.errors).contains("hunter2"), "\(printed)")
    }

    /// `watch` asks at each change.
    @Test func aSecretThatComesIsHiddenFromThenOn() throws {
        let secrets = home.folder.file("secrets").appending(path: "NAME")
        let prefs = try #require(program).make(nil, nil)
        let before = Secrets(of: prefs, reveals: false)
        #expect(!before.contains("name") && before.contains("password") && before.contains("plain"))
        try Data("hunter2".utf8).write(to: secrets)
        #expect(before.current.contains("name"))
        try FileManager.default.removeItem(at: secrets)
        #expect(before.current.contains("name"), "its last value is shown as what was before")
        #expect(Secrets(of: prefs, reveals: true).current.isEmpty && Secrets.none.current.isEmpty)
    }

    @Test func watchPrintsDotsForASecretThatComes() async {
        await #expect(processExitsWith: .success) {
            let test = try SecretsFolderToolTests()
            // The thread that watches keeps the folder.
            defer { try? FileManager.default.removeItem(at: test.home.folder.url) }
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            var program = try #require(test.program)
            program.context = ProcessContext(
                executable: "myapp", environment: ["HOME": test.home.folder.path], input: STDIN_FILENO, output: ends[1],
                errors: ends[1])
            nonisolated(unsafe) let watched = program
            Thread.detachNewThread { _ = PrefsTool.run(["watch"], of: watched) }
            func line() -> String {
                var (line, byte, ready) = (Data(), UInt8(0), pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0))
                while byte != UInt8(ascii: "\n"), poll(&ready, 1, Int32(Patience.seconds) * 1_000) == 1,
                    read(ends[0], &byte, 1) == 1
                { line.append(byte) }
                return String(decoding: line, as: UTF8.self)
            }
            try #require(line().contains("watching"))
            // Moved to its place, so that no half of it is read.
            let secret = test.home.folder.file("NAME")
            try Data("hunter3".utf8).write(to: secret)
            try FileManager.default.moveItem(at: secret, to: test.home.folder.file("secrets").appending(path: "NAME"))
            #expect(line().hasSuffix("  name: (not set) → •••\n"))
        }
    }

    @Test func theNamesOfTheFileAreInTheHelp() throws {
        let help = try prefs(["help", "password"]).output
        #expect(help.contains(/\n *file +PASSWORD, password\n/) && help.contains(/\n *default +•••\n/), "\(help)")
    }

    @Test func dotsStandForIt() throws {
        #expect(try prefs(["show"]).output.contains(/password +String .*•••/))
        #expect(
            try prefs(["get", "password"])
                == Printed("", errors: "myapp prefs: `password` is sensitive; --reveal prints it\n", code: 1))
        #expect(try prefs(["get", "password", "--reveal"]).output == "hunter2\n")
    }
}
