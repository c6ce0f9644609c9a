import Foundation
import PersistentPreferences
import PrefsJSON

/// A parsed command line.
package struct Invocation {
    let program: Program
    let spec: CommandSpec
    /// The word that names the place: the value of `-f`, or the first operand if it names a file. nil for the place of
    /// the program.
    let place: String?
    /// The words after the name of the command, without the place.
    let operands: [String]
    package let options: Options

    package var context: ProcessContext { program.context }
    package var wantsJSON: Bool { options.has(.json) }
    /// True if the command prints what it would change, and changes nothing.
    var isDryRun: Bool { options.has(.dryRun) }
    /// True if nothing needs a confirmation.
    var isForced: Bool { options.has(.force) }

    init(_ arguments: [String], of program: Program) throws(UsageError) {
        self.program = program
        options = try Options(arguments, of: program)
        var words = options.operands[...]
        let word = words.popFirst()
        if options.has(.version) {
            (spec, place, operands) = (program.version, nil, [])
        } else if options.has(.help) {
            (spec, place) = (program.help, nil)
            operands = word.map { [$0 == "help" ? words.first : $0].compactMap { $0 } } ?? []
        } else {
            let isFile = word.map { !program.hasCommand($0) && Target.isFile($0, exists: true) } ?? false
            let command = isFile ? nil : word
            spec =
                try command.map { word throws(UsageError) in try Self.spec(word, of: program) } ?? program.commands[0]
            if isFile, let word { words.insert(word, at: words.startIndex) }
            let isNamed = !options.has(.place) && Self.startsWithFile(words, of: spec, in: program)
            place = isNamed ? words.popFirst() : options[.place]
            operands = Array(words)
            try checkOptions()
            try checkOperands()
        }
    }

    /// Whether the first operand of a command names a file, and is not a key of the program or the operand of another
    /// kind that the command needs.
    static func startsWithFile(_ words: ArraySlice<String>, of spec: CommandSpec, in program: Program) -> Bool {
        let kinds = spec.alternatives(at: 0)
        // The word of an import is its source.
        if kinds == [WordKind.path.rawValue] { return false }
        // The words of a copy may be FILE:KEY, and that of an export may be meant as its output. Another command without
        // operands can only mean a file.
        let mayBeNew = kinds == [WordKind.key.rawValue] || spec.operandCount.upperBound == 0
        let needsFile = !mayBeNew || ["cp", "mv", "export"].contains(spec.name)
        guard let word = words.first, spec.accepts(.place), Target.isFile(word, exists: needsFile) else { return false }
        if kinds != [WordKind.key.rawValue] { return words.count > spec.operandCount.upperBound }
        if spec.name == "set", word.utf8.contains(UInt8(ascii: "=")) { return false }
        let keys = PrefsKey.all(of: program.sample)
        return (try? ValuePath(word, isKey: { PrefsKey.named($0, among: keys) != nil }, value: { _ in nil }))
            .flatMap { PrefsKey.named($0.root, among: keys) } == nil
    }

    /// The place that the words name, in the format that `--format` names.
    ///
    /// - Parameter word: the word of another place than that of the whole command line.
    func target(_ word: String? = nil) throws(UsageError) -> Target? {
        // The format of an export is that of its output.
        let name = spec.name == "export" ? nil : options[.format]
        let format = try name.map { name throws(UsageError) in try ExportFormat.named(name) }
        guard let place = word ?? place else {
            if name == nil { return nil }
            throw UsageError("--format is the format of a file; name the file with -f")
        }
        return Target(place, as: format)
    }

    private func checkOptions() throws(UsageError) {
        if options.all(.place).count > (["cp", "mv"].contains(spec.name) ? 2 : 1) {
            throw UsageError("-f is given twice; give it once")
        }
        for name in options.names {
            guard let option = program.options.first(where: { $0.name == name }), !spec.accepts(option) else {
                continue
            }
            let owners = program.commands.filter { $0.accepts(option) }.map { "`\($0.name)`" }
            throw UsageError(
                "`\(spec.name)` does not accept \(name); it is an option of \(owners.joined(separator: ", "))")
        }
    }

    private func checkOperands() throws(UsageError) {
        guard !spec.operandCount.contains(operands.count) else { return }
        let problem = operands.count < spec.operandCount.lowerBound ? "too few arguments" : "too many arguments"
        let remedy =
            problem != "too many arguments" || spec.operandCount.upperBound > 0 || !spec.accepts(.place)
            ? "" : spec.name == "export" ? " (-o PATH writes to a file, -f exports a file)" : " (-f names the place)"
        throw UsageError("\(problem) for `\(spec.name)`: \(program.name) \(spec.synopsis)\(remedy)")
    }

    /// The command with that name.
    private static func spec(_ name: String, of program: Program) throws(UsageError) -> CommandSpec {
        guard let spec = program.commands.first(where: { $0.name == name }) else {
            let known = program.commands.map(\.name)
            let meant = others[name].flatMap { known.contains($0) ? $0 : nil }
            let hint =
                meant.map { "; \(program.name) has `\($0)` for it" } ?? Suggestion.textOrHelp(name, among: known)
            throw UsageError("unknown command `\(ShownText.key(name))`\(hint)")
        }
        return spec
    }

    /// The words of defaults(1), git-config(1) and shells.
    private static let others = [
        "list": "show", "ls": "show", "print": "show", "dump": "show", "config": "show", "read": "get", "cat": "get",
        "write": "set", "add": "set", "put": "set", "delete": "unset", "remove": "unset", "rm": "unset", "copy": "cp",
        "move": "mv", "rename": "mv", "grep": "find", "search": "find", "check": "doctor", "validate": "doctor",
    ]
}

/// The program that the tool belongs to.
struct Program {
    /// The words that users type before a command: `prefs`, or `myapp prefs`.
    let name: String
    /// The place of the preferences if the user names no other place; nil if only `make` knows it.
    var target: Target?
    /// Makes a store of a URL; nil if the program has no such stores.
    var storeOfURL: ((String) throws(PrefsError) -> PrefsStore)?
    /// All commands, in the order of the help.
    var commands: [CommandSpec]
    /// What `--help` and `--version` run.
    let help: CommandSpec
    let version: CommandSpec
    /// Makes the preferences under a root key in a store; nil stands for the program's own key or store.
    let make: (_ root: String?, _ store: PrefsStore?) -> PersistentPrefs
    var context = ProcessContext.process

    /// Preferences of the class that read and write no file.
    var sample: PersistentPrefs { make(nil, PrefsStore.memory()) }

    /// The preferences in the program's own store, with its layers.
    var own: PersistentPrefs { make(nil, nil) }

    /// The physical path of the program's own file; empty if it has none.
    var ownFiles: Set<String> {
        let path = if let target { try? target.path() } else { own.fileURL?.absoluteURL.path(percentEncoded: false) }
        return Set([path].compactMap { $0.flatMap { try? SidecarPaths(path: $0).file } })
    }

    /// The preferences in the program's own file; nil for another place. Its store may differ from the store of the
    /// place.
    func ownPrefs(in place: Target) throws -> PersistentPrefs? {
        guard target == nil, let path = try place.path() else { return nil }
        let own = own
        func physical(_ path: String) -> String { (try? SidecarPaths(path: path).file) ?? path }
        guard let file = own.fileURL?.absoluteURL.path(percentEncoded: false) else { return nil }
        return physical(file) == physical(path) ? own : nil
    }

    /// Whether the program's own file has a flat layout.
    var hasFlatLayout: Bool { target == nil && own.hasFlatLayout }

    func hasCommand(_ name: String) -> Bool { commands.contains { $0.name == name } }

    /// The options of its commands, in the order of the help.
    var options: [OptionSpec] {
        // A program adds its layers in `make`, and has its own `--version`.
        var taken: Set<String> =
            target == nil ? [OptionSpec.layers.name, OptionSpec.layer.name, OptionSpec.version.name] : []
        return (commands.flatMap(\.options) + [.json, .help, .version]).filter { taken.insert($0.name).inserted }
    }
}

extension ShellCommand {
    /// Returns a command of the program, which is named as in the current call; nil if it does not have the command.
    static func text(of program: Program, _ command: String, _ options: [String] = [], words: [String]) -> String? {
        guard program.hasCommand(command) else { return nil }
        // A word that begins with a dash could be taken for an option.
        let end = words.contains { $0.utf8.first == UInt8(ascii: "-") } ? ["--"] : []
        return text(called(program) + [command] + options + end + words)
    }

    private static func called(_ program: Program) -> [String] {
        let words = program.name.split(separator: " ").map(String.init)
        guard let called = program.context.executable, called.utf8.contains(UInt8(ascii: "/")) else { return words }
        return [called] + words.dropFirst()
    }
}
