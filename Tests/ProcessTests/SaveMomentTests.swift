import Foundation
import TestSupport
import Testing

/// The first table of the article "How programs save": what each program leaves for a moment, as inotify reports it.
@Suite(.enabled(if: SavedFile.isPossible && FolderEvents.canRun)) struct SaveMomentTests {
    /// A row of the table, by the beginning of its first cell.
    enum Moment: String {
        case missing = "no file"
        case partial = "an empty file"
        case none = "never"
    }

    struct Case: Sendable, CustomStringConvertible {
        /// The name in the table.
        let name: String
        let tool: String
        let moment: Moment
        var preparation = "true"
        let script: String
        /// Whether it saves through a link.
        var isLinked = false

        var testDescription: String { "\(name)\(isLinked ? " through a link" : ""): \(moment.rawValue)" }
        var description: String { testDescription }

        init(_ name: String, _ tool: String, _ moment: Moment, _ script: String) {
            (self.name, self.tool, self.moment, self.script) = (name, tool, moment, script)
        }

        init(_ saver: Saver, _ moment: Moment, isLinked: Bool = false, preparation: String? = nil) {
            name = saver.rawValue
            tool = [.sedBackup: "sed", .shell: "sh"][saver] ?? saver.program
            self.moment = moment
            self.preparation = preparation ?? saver.preparation ?? "true"
            script = saver.script ?? ""
            self.isLinked = isLinked
        }
    }

    static let cases = [
        Case(.vim, .missing), Case(.vim, .partial, isLinked: true), Case(.emacs, .missing),
        Case(.emacs, .missing, isLinked: true), Case(.git, .missing), Case(.tar, .missing), Case(.install, .missing),
        Case(.copy, .missing), Case("cp --backup", "cp", .missing, #"cp --backup "$NEW/1/config.json" "$FILE""#),
        Case(.move, .missing), Case(.patch, .missing), Case(.sedBackup, .missing), Case(.perl, .none),
        Case(.perl, .missing, preparation: #"touch "$FILE.bak""#),
        Case("cp", "cp", .partial, #"cp "$NEW/1/config.json" "$FILE""#),
        Case("ed", "ed", .partial, #"printf '2s/0/1/\nw\nq\n' | ed -s "$FILE""#), Case(.shell, .partial),
        Case(.sed, .none), Case("perl -pi", "perl", .none, #"perl -pi -e 's/"round": 0/"round": 1/' "$FILE""#),
        Case(.rsync, .none), Case("mv", "mv", .none, #"cp "$NEW/1/config.json" "$FILE.new" && mv "$FILE.new" "$FILE""#),
        Case("patch", "patch", .none, (Saver.patch.script ?? "").replacing(" -b ", with: " ")),
    ]

    @Test(arguments: cases) func aProgramLeavesWhatTheArticleSays(_ test: Case) throws {
        guard
            Hazard.canRun(
                "moments of \(test.name)", if: Child.installed(test.tool) != nil, else: "\(test.tool) is missing")
        else { return }
        let file = try SavedFile(isLinked: test.isLinked)
        for round in 0...1 {
            let folder = file.new.appending(path: "\(round)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try file.text(round).write(to: folder.appending(path: "config.json"), atomically: false, encoding: .utf8)
        }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let variables = [
            "FILE": file.path, "NEW": file.new.path, "ROUND": "1", "LAST": "1", "HOME": file.new.path, "PATH": path,
        ]
        let prepared = try Child(URL(filePath: "/bin/sh"), ["-c", test.preparation], environment: variables).wait()
        #expect(prepared.code == 0, "\(prepared.errors)")
        let folder = file.file.deletingLastPathComponent().path
        let result = try Child(
            URL(filePath: FolderEvents.python ?? ""), ["-c", FolderEvents.script, folder, "config.json", test.script],
            environment: variables
        ).wait()
        #expect(result.code == 0, "\(result.errors)")
        #expect(try file.round() == 1)
        let events = result.output.split(separator: "\n")
        let moment: Moment = events.contains("gone") ? .missing : events.contains("changed") ? .partial : .none
        #expect(moment == test.moment, "\(events)")
    }

    @Test func theArticleNamesThem() throws {
        let article = URL(filePath: #filePath).appending(path: "../../..").standardized
            .appending(path: "Sources/PersistentPreferences/PersistentPreferences.docc/HowProgramsSave.md")
        let lines = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
        for test in Self.cases {
            let row = lines.first { $0.hasPrefix("| \(test.moment.rawValue)") }
            #expect(row?.contains("`\(test.name)`") == true, "\(test)")
        }
    }
}

/// A program that watches a folder while a command runs.
private enum FolderEvents {
    /// In Python. Runs a command, and prints what happens to a name in a folder meanwhile, one word for each event.
    static let script = """
        import ctypes, os, struct, subprocess, sys
        folder, name, command = sys.argv[1:]
        words = {0x2: "changed", 0x40: "gone", 0x80: "moved", 0x100: "created", 0x200: "gone"}
        system = ctypes.CDLL(None)
        events = system.inotify_init1(os.O_NONBLOCK)
        system.inotify_add_watch(events, folder.encode(), sum(words))
        code = subprocess.run(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode
        try:
            while True:
                data = os.read(events, 65536)
                while data:
                    mask, length = struct.unpack_from("4xI4xI", data)
                    if data[16:16 + length].rstrip(b"\\0").decode() == name:
                        print(words[mask & sum(words)])
                    data = data[16 + length:]
        except BlockingIOError:
            sys.exit(code)
        """

    static let python = Child.installed("python3", in: Child.systemFirstPath)
    static let canRun = Hazard.canRun(
        "moments of savers",
        if: python.map { python in
            let test = "import ctypes; ctypes.CDLL(None).inotify_init1"
            return (try? Child(URL(filePath: python), ["-c", test], environment: [:]).wait())?.code == 0
        } ?? false, else: "it needs python3 and inotify")
}
