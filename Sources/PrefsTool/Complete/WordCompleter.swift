import Foundation
import PersistentPreferences

/// Finds the completions of a word, from the lists of commands and options, the class and the files. Changes nothing.
struct WordCompleter {
    struct Candidate: Equatable {
        let text: String
        /// What a shell may show beside it.
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
            } else if word.hasPrefix("--") || word == OptionSpec.output.name, !areOperands {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let option = program.options.first { $0.name == parts[0] }
                values[parts[0]] = parts[safe: 1] ?? ""
                pending = parts.count == 1 && option?.valueName != nil ? option : nil
            } else {
                operands.append(word)
            }
        }
        spec = operands.first.flatMap { name in program.commands.first { $0.name == name } }
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
            operands.isEmpty ? CommandSpec.show.accepts(option) || option.isGeneral : spec?.accepts(option) ?? false
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
                candidates = classKeys
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
        case .key: candidates += domainOperand == nil ? classKeys : domainKeys
        case .value: candidates += domainOperand == nil ? choices(of: operands[safe: 1] ?? "") : []
        case .suite: candidates += suites
        case .domain:
            candidates += suites
            mayBeFile = true
        case .root: candidates += roots
        case .path, .file: mayBeFile = true
        case .command: candidates += commands
        case .format: candidates += ["json", "xml", "binary"].map { Candidate(text: $0) }
        }
    }

    private var commands: [Candidate] { program.commands.map { Candidate(text: $0.name, note: $0.summary) } }

    // MARK: - The class

    private var keys: [PrefsKey] { PrefsKey.all(of: program.sample) }

    /// The short names, and a key that begins with the word.
    private var classKeys: [Candidate] {
        let given = Set(operands.dropFirst())
        return keys.compactMap { key in
            guard !given.contains(key.shortName), !given.contains(key.name) else { return nil }
            let isKey = !word.isEmpty && !key.shortName.hasPrefix(word) && key.name.hasPrefix(word)
            let note = key.description?.help.map { ": \($0)" } ?? ""
            return Candidate(text: isKey ? key.name : key.shortName, note: key.typeName + note)
        }
    }

    private func choices(of name: String) -> [Candidate] {
        let key = keys.first { $0.name == name } ?? keys.first { $0.shortName == name }
        return (key?.description?.choices ?? []).map { Candidate(text: $0) }
    }

    // MARK: - Domains

    /// The domain that the operands name.
    private var domainOperand: Target? {
        guard spec?.alternatives(at: 0) == [WordKind.domain.rawValue] else { return nil }
        return operands[safe: 1].map(Target.init(domain:))
    }

    private var domain: Target? {
        if let domainOperand { return domainOperand }
        if let word = values[OptionSpec.domain.name] { return Target(domain: word) }
        if let suite = values[OptionSpec.suite.name] { return .suite(suite) }
        if let file = values[OptionSpec.file.name] { return .file(file) }
        return program.target ?? program.make(nil, nil).fileURL.map { .file($0.path(percentEncoded: false)) }
    }

    private var entries: [String: StoredValue] { (try? domain?.domain().entries().entries) ?? [:] }

    private var roots: [Candidate] {
        entries.filter { $0.value.dictionary != nil }.keys.sorted().map { Candidate(text: $0) }
    }

    private var domainKeys: [Candidate] {
        let root = operands[safe: 2].flatMap { entries[$0]?.dictionary } ?? [:]
        return root.sorted { $0.key < $1.key }.map { Candidate(text: $0.key, note: ValueText.typeName($0.value)) }
    }

    /// The names of the property lists in the folder of UserDefaults.
    private var suites: [Candidate] {
        guard let path = try? SidecarPaths.path(ofSuite: "x") else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: SidecarPaths.folder(of: path))) ?? []
        let ending = ".plist"
        return names.filter { $0.hasSuffix(ending) && !$0.hasPrefix(".") }.map { String($0.dropLast(ending.count)) }
            .sorted().map { Candidate(text: $0) }
    }
}
