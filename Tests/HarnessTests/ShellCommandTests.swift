import Foundation
import TestSupport
import Testing

@testable import PrefsTool

/// A shell passes each word of a printed command unchanged, and runs no part of it.
@Suite(.waits) final class ShellCommandTests: HarnessSuite {
    /// Returns the words that a shell passes to a program, as bytes.
    private func words(_ words: [String], in shell: String, locale: String = "C.UTF-8") throws -> [[UInt8]] {
        let folder = try TemporaryFolder()
        let script = "cd \"$HOME\" && printf '%s\\0' " + ShellCommand.text(words) + " > words"
        let child = try Child(
            URL(filePath: "/bin/\(shell)"), ["-c", script], environment: ["HOME": folder.path, "LC_ALL": locale])
        let result = try child.wait()
        #expect(result.code == 0 && result.errors == "", "\(result)")
        #expect(try folder.names() == ["words"])
        return try Data(contentsOf: folder.file("words")).split(separator: 0, omittingEmptySubsequences: false)
            .dropLast().map(Array.init)
    }

    /// Without NUL, which no argument can contain.
    private static let hostile = (HostileText.shown + HostileText.commands).map { $0.replacing("\0", with: "") }

    private static func random(
        seed: UInt64, count: Int = Hazard.count("PREFS_WORDS", default: Hazard.count(100, long: 1_000))
    ) -> [String] {
        var generator = SeededGenerator(seed: seed)
        let pool =
            "'\"\\`$!()[]{}<>|&;*?~#=-^% \t\n\r\u{1B}\u{7F}\u{9B}\u{301}\u{30A}\u{202E}\u{200D}\u{FEFF}\u{600}aé日0"
        let scalars = Array(pool.unicodeScalars)
        return (0..<count).map { _ in
            let word = (0..<Int.random(in: 0...8, using: &generator)).map { _ -> Unicode.Scalar in
                let isOfPool = Int.random(in: 0..<10, using: &generator) > 0
                let any = Unicode.Scalar(UInt32.random(in: 1...0x10FFFF, using: &generator))
                return (isOfPool ? scalars.randomElement(using: &generator) : any) ?? "'"
            }
            return String(String.UnicodeScalarView(word))
        }
    }

    @Test(arguments: ["C", "C.UTF-8"]) func bashGetsEveryWordExactly(locale: String) throws {
        let all = Self.hostile + Self.random(seed: 1)
        #expect(try words(all, in: "bash", locale: locale) == all.map { Array($0.utf8) })
    }

    /// POSIX shells from before 2024 do not know the octal form. They read it as one different word.
    @Test func dashRunsNothingAndGetsPlainWordsExactly() throws {
        let all = Self.hostile + Self.random(seed: 1)
        let found = try words(all, in: "sh")
        #expect(found.count == all.count)
        for (word, found) in zip(all, found) {
            let isOctal = ShellCommand.text([word]).utf8.first == UInt8(ascii: "$")
            #expect(isOctal ? found.first == UInt8(ascii: "$") : found == Array(word.utf8), "\(word)")
        }
    }

    /// Some shells expand these characters between single quotes.
    @Test func aBackslashAndAnExclamationMarkHaveTheOctalForm() {
        #expect(ShellCommand.text(["a\\", "!b", "c'd", "é"]) == #"$'a\134' $'\041b' 'c'\''d' 'é'"#)
    }

    @Test func aCommandShowsNothingThatDrivesATerminal() {
        for word in Self.hostile + Self.random(seed: 9, count: 500) {
            let text = ShellCommand.text([word])
            #expect(HostileText.unsafeScalars(in: text).isEmpty && !text.contains("\n") && !text.contains("\t"))
        }
    }

    @Test(arguments: ["-h", "--mend", "--\u{301}", "-\u{301}", "-"])
    func aWordThatBeginsWithADashIsNotAnOption(word: String) {
        let program = Program(name: "prefs", commands: PrefsCommands.all, make: AppPrefs.program.make)
        #expect(ShellCommand.text(of: program, "unset", words: ["a", word])?.contains(" -- a ") == true)
    }

    // MARK: - Commands of the doctor

    private enum Problem { case badValues, linkedLock, fifo, leftOver, quarantined }

    private static let fileNames =
        HostileText.commands.filter { !$0.isEmpty }.map { $0 + ".plist" } + ["a\u{202E}\u{200B}.plist"]

    /// Each file name is combined with the key of the same index, because a shell reads each quoted word on its own. The usual form takes
    /// half of the names.
    @Test(arguments: Hazard.each(2, of: fileNames.indices)) func theCommandsOfTheDoctorRunNothingElse(index: Int) throws
    {
        let keys = HostileText.commands.filter { !$0.isEmpty }
        let rounds: [[Problem]] = [[.badValues], [.linkedLock, .fifo], [.leftOver, .quarantined]]
        // In the usual form, one round for each name in turn.
        try expectMending(
            Hazard.isLong ? rounds : [rounds[index % 3]], of: Self.fileNames[index], keys: [keys[index % keys.count]])
    }

    @Test func theCommandsForEveryKeyRunNothingElse() throws {
        try expectMending([[.badValues]], of: "x.plist", keys: HostileText.commands.filter { !$0.isEmpty })
    }

    /// In each round, makes the problems and runs the commands of the doctor in two shells.
    private func expectMending(_ rounds: [[Problem]], of name: String, keys: [String]) throws {
        let path = home.folder.path + "/" + name
        try home.claim(name)
        try #require(home.prefs("set", "-f", path, "A.k", "42", "-t", "integer") == Printed())
        for problems in rounds {
            for problem in problems { try make(problem, path, name, keys) }
            for shell in ["sh", "bash"] {
                let commands = try home.doctor(path).commands
                #expect(commands.count >= problems.count || shell == "bash", "\(problems): \(commands)")
                for command in commands {
                    #expect(HostileText.unsafeScalars(in: command).isEmpty && !command.contains("\n"))
                    let script = "cd \"$HOME\"; " + command
                    let result = try Child(
                        URL(filePath: "/bin/\(shell)"), ["-c", script], environment: ["HOME": home.folder.path]
                    ).wait()
                    let isRun = home.paths.contains("pwned")
                    try #require(!isRun, "\(shell) runs a part of a word of: \(command)")
                    // bash knows every form.
                    if shell == "bash" { #expect(result.code == 0, "\(command): \(result.errors)") }
                }
            }
            let report = try home.doctor(path)
            let left = report.findings.map { "\($0["reason"] ?? ""): \($0["command"] ?? "no command")" }
            try #require(report.code == 0, "the commands for \(problems) leave: \(left.joined(separator: "; "))")
            let roots = try propertyList(from: #require(FileManager.default.contents(atPath: path)))
            #expect(
                (roots["A"] as? [String: Any])?["k"] as? Int == 42, "the value beside \(problems) is lost: \(roots)")
        }
    }

    /// - Parameter keys: the names of roots and keys that cannot be stored again.
    private func make(_ problem: Problem, _ path: String, _ name: String, _ keys: [String]) throws {
        func hidden(_ ending: String) -> String { "\(home.folder.path)/.\(name).\(ending)" }
        func write(_ content: Any) throws {
            let bytes = try PropertyListSerialization.data(fromPropertyList: content, format: .binary, options: 0)
            try #require(FileManager.default.createFile(atPath: path, contents: bytes))
        }
        switch problem {
        case .badValues:
            let deep = (0..<70).reduce("x" as Any) { value, _ in [value] }
            var roots: [String: Any] = ["A": ["k": 42, "deep": deep], "": ["a": 1]]
            for key in keys { roots[key] = [key: deep] }
            try write(roots)
        case .linkedLock:
            try #require(unlink(hidden("lock")) == 0 && symlink("/dev/null", hidden("lock")) == 0)
        case .fifo:
            try #require(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        case .leftOver:
            try #require(FileManager.default.createFile(atPath: hidden("tmp"), contents: Data("half".utf8)))
        case .quarantined:
            try write(["A": ["k": 42]])
            try #require(rename(path, "\(path).corrupt-20260101T000000Z-1") == 0)
        }
    }

    /// A domain may be named like an option.
    @Test(arguments: ["-x", "-\u{301}", "two words", "$(touch pwned)"])
    func theCommandMendsTheSuite(suite: String) throws {
        let damaged = Data("<plist>&</plist>".utf8)
        try FileManager.default.createDirectory(at: home.folder.file(".config"), withIntermediateDirectories: false)
        try damaged.write(to: home.domainFile(suite))
        let command = try #require(try home.doctor(suite).commands.first)
        let mended = try home.bash(command)
        #expect(mended.code == 0, "\(command): \(mended)")
        #expect(try prefs("doctor", "-f", suite).code == 0)
        #expect(!home.paths.contains("pwned"))
    }

    /// The parent folder is found by comparing bytes.
    @Test func aFolderNameMayBeginWithACombiningMark() throws {
        let path = home.folder.path + "/\u{301}a/\u{301}b/x.plist"
        #expect(try prefs("doctor", "-f", path).code == 0)
        #expect(try prefs("doctor", "-f", "/\u{301}nowhere/x.plist").output.contains("\u{301}nowhere"))
        #expect(try prefs("show", "-f", "/\u{301}nowhere") == .failure("property-list file not found: /\u{301}nowhere"))
    }
}
