import Foundation
import PrefsJSON
import PrefsLayers
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsSupport

/// Files of such a folder that are written, exchanged, removed and added.
@Suite(.waits) final class SecretsFolderChangeTests: SecretsFolderSuite {
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

    /// One folder is above the base, the other one below.
    @Test func eachOfTwoFoldersIsWatched() throws {
        let below = folder.file("below")
        try FileManager.default.createDirectory(at: below, withIntermediateDirectories: false)
        chmod(below.path, 0o755)
        func put(_ port: Int, in folder: URL) throws {
            try Data("\(port)".utf8).write(to: folder.appending(path: "PORT"), options: .atomic)
        }
        try put(1, in: below)
        let prefs = prefs(below: [.folder(below)])
        let ports = prefs.$port.observer()
        #expect(prefs.port == 1)
        try put(2, in: below)
        #expect(ports.wait(for: 1) == [[1, 2]])
        try put(3, in: secrets)
        #expect(ports.wait(for: 2) == [[1, 2], [2, 3]])
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
}
