import Foundation
import PersistentPreferences
import PrefsLayers
import PrefsPropertyLists

/// Finds the completions of a word, from the lists of commands and options, the class and the files. Changes nothing.
struct WordCompleter {
    struct Candidate: Equatable {
        let text: String
        /// The note that a shell may show beside the text.
        var note = ""
    }

    private let program: Program
    private let word: String
    private(set) var candidates: [Candidate] = []
    /// True if the word may be the path of a file. The shell completes it.
    private(set) var mayBeFile = false

    private var spec: CommandSpec?
    private var operands: [String] = []
    private var values: [String: String] = [:]

    /// - Parameter before: the words between the name of the program and the word.
    init(of program: Program, before: [String], word: String) {
        self.program = program
        self.word = word
        var pending: OptionSpec?
        var areOperands = false
        for word in before {
            if let option = pending {
                values[option.name] = word
                pending = nil
            } else if word == "--", !areOperands {
                areOperands = true
            } else if word.hasPrefix("--") || ["-f", "-o", "-t"].contains(word), !areOperands {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let option = program.options.first { $0.name == parts[0] }
                values[parts[0]] = parts[safe: 1] ?? ""
                pending = parts.count == 1 && option?.valueName != nil ? option : nil
            } else {
                operands.append(word)
            }
        }
        spec = operands.first.flatMap { name in program.commands.first { $0.name == name } }
        if let spec, values[OptionSpec.place.name] == nil,
            Invocation.startsWithFile(operands.dropFirst(), of: spec, in: program)
        {
            values[OptionSpec.place.name] = operands.remove(at: 1)
        }
        if let pending {
            complete(pending)
        } else if word.hasPrefix("-"), !areOperands {
            completeOption()
        } else if operands.isEmpty {
            candidates = commands
        } else {
            completeOperand()
        }
        // JSON and other texts of several lines are no help.
        candidates = candidates.filter { !$0.text.isEmpty && !$0.text.utf8.contains(0) }
    }

    // MARK: - Options

    private mutating func completeOption() {
        let name = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init)
        if let name, name != word {
            guard let option = program.options.first(where: { $0.name == name }) else { return }
            complete(option)
            candidates = candidates.map { Candidate(text: "\(name)=\($0.text)", note: $0.note) }
            return
        }
        let own = program.options.filter { option in
            operands.isEmpty ? program.commands[0].accepts(option) || option.isGeneral : spec?.accepts(option) ?? false
        }
        candidates = own.filter { values[$0.name] == nil }.map { Candidate(text: $0.name, note: $0.summary) }
    }

    private mutating func complete(_ option: OptionSpec) {
        guard let kind = option.kind else { return }
        complete(kind)
    }

    // MARK: - Operands

    private mutating func completeOperand() {
        guard let spec else { return }
        // Several assignments are KEY=VALUE each.
        if spec.name == "set", word.contains("=") || operands[safe: 1]?.contains("=") == true {
            guard let name = word.split(separator: "=", omittingEmptySubsequences: false).first, name != word else {
                candidates = keys
                return
            }
            candidates = choices(of: String(name)).map { Candidate(text: "\(name)=\($0.text)", note: $0.note) }
            return
        }
        for name in spec.alternatives(at: operands.count - 1) {
            guard let kind = WordKind(rawValue: name) else {
                if name.allSatisfy(\.isLowercase) { candidates.append(Candidate(text: name)) }
                continue
            }
            complete(kind)
        }
    }

    private mutating func complete(_ kind: WordKind) {
        switch kind {
        case .key: candidates += keys
        case .value: candidates += choices(of: operands[safe: 1] ?? "")
        case .place:
            candidates += suites
            mayBeFile = true
        case .root: candidates += roots
        case .path, .file: mayBeFile = true
        case .command: candidates += commands
        case .format: candidates += ["json", "xml", "binary"].map { Candidate(text: $0) }
        case .type: candidates += (PropertyListType.allCases.map(\.rawValue) + ["json"]).map { Candidate(text: $0) }
        }
    }

    private var commands: [Candidate] { program.commands.map { Candidate(text: $0.name, note: $0.summary) } }

    // MARK: - Keys

    /// The place that the options name; the settings of the program in memory if they name none.
    private var place: Place? {
        let named = values[OptionSpec.place.name].map { Target($0) }
        guard let named, values[OptionSpec.root.name] == nil, !named.hasRootsOnly else {
            return Place(settings: program.sample, in: program)
        }
        let own = try? program.ownPrefs(in: named)
        return own?.hasFlatLayout == true
            ? Place(settings: program.sample, in: program) : try? Place(entriesOf: named, in: program)
    }

    /// The keys, and after a dot the fields and entries of the value before it.
    private var keys: [Candidate] {
        guard let place else { return [] }
        let stored = (try? place.read().values) ?? [:]
        if let dot = word.unicodeScalars.lastIndex(of: "."),
            let path = try? place.path(String(word.unicodeScalars[..<dot]), in: stored),
            let members = path.value(in: place.effective(stored[path.root], path.root))?.dictionary
        {
            let beginning = word.unicodeScalars[...dot]
            return members.sortedByBytes.map {
                let name = ValuePath($0).text
                return Candidate(text: String(beginning) + name, note: ValueText.typeName($1))
            }
        }
        if place.prefs == nil {
            return stored.sortedByBytes.map { key, value in
                // A key with dots is also read without backslashes.
                let isTyped = word.utf8.contains(UInt8(ascii: ".")) && key.utf8.starts(with: word.utf8)
                return Candidate(text: isTyped ? key : ValuePath(key).text, note: ValueText.typeName(value))
            }
        }
        let given = Set(operands.dropFirst())
        return place.keys.compactMap { key in
            guard !given.contains(key.shortName), !given.contains(key.name) else { return nil }
            // The short names, and a key that begins with the word.
            let isKey = !word.isEmpty && !key.shortName.hasPrefix(word) && key.name.hasPrefix(word)
            let note = key.description?.help.map { ": \($0)" } ?? ""
            return Candidate(text: isKey ? key.name : key.shortName, note: key.typeName + note)
        }
    }

    private func choices(of name: String) -> [Candidate] {
        (place?.key(name)?.description?.choices ?? []).map { Candidate(text: $0) }
    }

    // MARK: - Places

    /// The dictionaries at the top of the file.
    private var roots: [Candidate] {
        let named = values[OptionSpec.place.name].map { Target($0) }
        let own =
            named ?? program.target ?? program.make(nil, nil).fileURL.map { .file($0.path(percentEncoded: false)) }
        let entries = own.flatMap { try? $0.domain().entries().entries } ?? [:]
        return entries.filter { $0.value.dictionary != nil }.keys.sorted().map { Candidate(text: $0) }
    }

    /// The UserDefaults domains.
    private var suites: [Candidate] { ((try? DomainNames.all()) ?? []).map { Candidate(text: $0) } }
}

/// Answers the completion scripts. Errors have no text, because the user is typing.
///
/// The output is a list of texts, each ended by NUL. The first is `files` if the shell should complete the path of a
/// file as well, or `words`. The completions follow: for bash as it inserts them, for zsh with a note as the next text,
/// for fish with a note after a tab.
struct CompletionWords {
    let program: Program

    /// - Parameter words: `bash COUNT LINE BREAKS`, where the line ends at the cursor and its first COUNT words name
    ///   the program; or `zsh WORD …` or `fish WORD …`, where the words follow the name of the program and the last
    ///   word is before the cursor.
    func answer(_ words: [String]) -> Outcome {
        guard let shell = words.first.flatMap(Shell.init) else { return Outcome() }
        var texts: [String] = []
        let completer: WordCompleter
        if shell == .bash {
            let line = ShellLine(words[safe: 2] ?? "", breaks: words[safe: 3] ?? "")
            let before = Array(line.words.dropFirst(max(0, words[safe: 1].flatMap { Int($0) } ?? 1)))
            completer = WordCompleter(of: program, before: before, word: line.word)
            texts = completer.candidates.compactMap { line.insertion($0.text) }
        } else {
            completer = WordCompleter(of: program, before: Array(words.dropFirst().dropLast()), word: words.last ?? "")
            texts = completer.candidates.flatMap { candidate in
                let note = candidate.note.printable
                if shell == .zsh { return [candidate.text, note] }
                // fish would interpret the rest as the note, or expand the tilde.
                if candidate.text.contains("\t") || candidate.text.hasPrefix("~") { return [] }
                return [note.isEmpty ? candidate.text : "\(candidate.text)\t\(note)"]
            }
        }
        let all = [completer.mayBeFile ? "files" : "words"] + texts
        return Outcome(bytes: Data(all.map { $0 + "\0" }.joined().utf8), as: .value)
    }
}

/// A command line of bash up to the cursor, parsed as the shell does.
struct ShellLine {
    /// The words before the last one, without quotes.
    private(set) var words: [String] = []
    /// The word before the cursor, without quotes.
    private(set) var word = ""
    /// The part of `word` that bash keeps. It replaces the rest by a completion.
    private(set) var kept = ""
    /// False if quotes end within the word. bash replaces only what follows them.
    private(set) var isReplaceable = true

    private enum Quote { case none, single, double }
    private var quote = Quote.none

    /// - Parameter breaks: the characters at which bash divides a word for completion: `COMP_WORDBREAKS`.
    init(_ line: String, breaks: String) {
        let breaks = Set(breaks.unicodeScalars)
        var isWord = false
        var rest = line.unicodeScalars[...]
        func unescaped(_ scalar: Unicode.Scalar) -> Bool {
            quote != .double || "\\\"$`\n".unicodeScalars.contains(scalar)
        }
        while let scalar = rest.popFirst() {
            switch (scalar, quote) {
            case ("'", .none), ("\"", .none):
                isReplaceable = isReplaceable && word == kept
                quote = scalar == "'" ? .single : .double
            case ("'", .single), ("\"", .double):
                quote = .none
                isReplaceable = false
            case ("\\", .none), ("\\", .double):
                guard let next = rest.popFirst() else { break }
                if !unescaped(next) { append(scalar) }
                append(next)
            case (" ", .none), ("\t", .none):
                if isWord { endWord() }
                isWord = false
                continue
            case (";", .none), ("|", .none), ("&", .none), ("(", .none), ("\n", .none):
                words = []
                (word, kept, isReplaceable, isWord) = ("", "", true, false)
                continue
            default:
                append(scalar)
                if quote == .none, breaks.contains(scalar) { (kept, isReplaceable) = (word, true) }
            }
            isWord = true
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar) { word.unicodeScalars.append(scalar) }

    private mutating func endWord() {
        words.append(word)
        (word, kept, isReplaceable) = ("", "", true)
    }

    /// Returns what bash inserts for a completion of the word, quoted like the word so far; nil if the completion does
    /// not begin with the word, or bash cannot insert it within the open quotes.
    func insertion(_ text: String) -> String? {
        guard isReplaceable, text.utf8.starts(with: word.utf8) else { return nil }
        let insertion = text.unicodeScalars.dropFirst(kept.unicodeScalars.count).map(quoted).joined()
        // readline takes a quote at either end for the one that it adds.
        let mark = UInt8(ascii: quote == .single ? "'" : "\"")
        let isAmbiguous = quote != .none && (insertion.utf8.first == mark || insertion.utf8.last == mark)
        return isAmbiguous ? nil : insertion
    }

    private func quoted(_ scalar: Unicode.Scalar) -> String {
        let text = String(scalar)
        if ShownText.isUnsafe(scalar) {
            let octal = "$'" + text.utf8.map { "\\" + String(Int($0) + 0o1000, radix: 8).suffix(3) }.joined() + "'"
            return switch quote {
            case .none: octal
            case .single: "'\(octal)'"
            case .double: "\"\(octal)\""
            }
        }
        switch quote {
        case .none: return scalar.isASCII && !Self.plain.contains(scalar) ? "\\" + text : text
        case .single: return scalar == "'" ? #"'\''"# : text
        // A backslash before an exclamation mark stays in double quotes.
        case .double: return scalar == "!" ? #""'!'""# : "\\\"$`".unicodeScalars.contains(scalar) ? "\\" + text : text
        }
    }

    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+,:@%=".unicodeScalars)
}
