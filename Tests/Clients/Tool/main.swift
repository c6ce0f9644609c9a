// A program of another package with a settings command for its own class. It gets a folder, runs commands on a file in
// it, and stops if one does not exit with its code.

import Foundation
import PersistentPreferences
import PrefsTool

enum Level: String, CaseIterable, Codable { case low, high }

struct Window: Codable, Equatable { var width = 80, height = 24 }

final class ToolPrefs: Prefs, @unchecked Sendable {
    @Pref(.in(8...72), .help("In points.")) var size = 12
    @Pref var ratio = 1.5
    @Pref var level = Level.low
    @Pref var names: [String] = []
    @Pref var window = Window()
    @Pref var since: Date? = nil
}

let file = CommandLine.arguments[1] + "/tool.plist"
let commands: [(words: [String], code: Int32)] = [
    (["show"], 0), (["get", "size"], 0), (["get", "size", "--stored"], 1), (["set", "size", "14"], 0),
    (["set", "size", "99"], 1), (["set", "level=high", "ratio=0.25"], 0), (["set", "level", "middle"], 1),
    (["set", "names", "a,b"], 0), (["set", "names[1]", "c"], 0), (["set", "window.height", "50"], 0),
    (["set", "since", "2026-11-22"], 0), (["get", "since"], 0), (["set", "size", "+2"], 0),
    (["set", "level", "+1"], 1), (["set", "size", "toggle"], 1), (["unset", "since"], 0), (["export"], 0),
    (["set", "size", "20", "--dry-run"], 0), (["set", "size", "20", "--if", "16"], 0), (["undo"], 0),
    (["schema"], 0), (["help", "level"], 0), (["help"], 0), (["completions", "fish"], 0), (["doctor"], 0),
    (["find", "window"], 0), (["unset", "--all"], 0), (["frobnicate"], 64), (["set", "size"], 64),
    (["read", file], 64),
]
// Discards the output of the commands, which the tests of the package check.
let streams = [STDOUT_FILENO, STDERR_FILENO].map { dup($0) }
let null = open("/dev/null", O_WRONLY)
for descriptor in [STDOUT_FILENO, STDERR_FILENO] { dup2(null, descriptor) }
var failure: String?
for (words, code) in commands {
    let namesNoFile = ["schema", "help", "completions", "read", "frobnicate"].contains(words[0])
    let arguments = words + (namesNoFile ? [] : ["-f", file, "--root", "ToolPrefs"])
    let result = PrefsTool.run(arguments, name: "tool") { root, store in
        store.map { ToolPrefs(key: root, store: $0) } ?? ToolPrefs(key: root)
    }
    if result != code { failure = failure ?? "\(words): exit code \(result), expected \(code)" }
}
for (stream, descriptor) in zip(streams, [STDOUT_FILENO, STDERR_FILENO]) { dup2(stream, descriptor) }
if let failure { fatalError(failure) }
print("\(commands.count) commands")
