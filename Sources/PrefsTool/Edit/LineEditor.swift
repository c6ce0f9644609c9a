import Foundation
import PersistentPreferences

/// Edits values line by line, on a terminal that cannot show the form.
struct LineEditor {
    private var document: EditorDocument
    /// The values of the last list. Numbers refer to them.
    private var listed: [EditorItem] = []
    private let columns: Int
    /// Returns the next line; nil at the end.
    private let readLine: () throws -> String?
    private let write: (String) throws -> Void

    private static let help = """
        N            show value N in full
        N VALUE      store a value
        KEY=VALUE    the same; adds a string
        r N, r KEY   reset or remove a value
        t N TYPE     change the type
        u            undo your last change
        l            list the values
        q            quit

        """

    init(
        _ source: any EditableSource, columns: Int, readLine: @escaping () throws -> String?,
        write: @escaping (String) throws -> Void
    ) {
        document = EditorDocument(source)
        self.columns = columns
        self.readLine = readLine
        self.write = write
    }

    /// Returns when the user quits, or at the end of the input.
    ///
    /// - Throws: the error of the first read, or of the terminal.
    mutating func run() throws {
        try document.read()
        try list()
        while true {
            try write("N VALUE, KEY=VALUE, l, ?, q> ")
            guard let line = try readLine() else { return try write("\n") }
            if line == "q" { return }
            do {
                try document.read()
                try perform(line)
            } catch {
                try write("\(error)".printable + "\n")
            }
        }
    }

    private mutating func perform(_ line: String) throws {
        guard StreamSafeText.isSafe(line) else { throw CommandError("more than 30 combining marks in a row") }
        let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (words.first ?? "", words[safe: 1]) {
        case ("", nil), ("l", nil): try list()
        case ("?", nil): try write(Self.help)
        case ("u", nil): try change(.undo)
        case ("r", let word?): try change(.remove(place(word).path))
        case ("t", let rest?): try retype(rest)
        case (let word, let text) where Int(word) != nil && !line.contains("="):
            try use(place(word), text)
        case (let word, let text?) where Int(word) != nil: try use(place(word), text)
        default:
            // Splits scalars, because a combining mark may follow a `=`.
            let parts = line.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw CommandError("expected N VALUE or KEY=VALUE; ? shows more")
            }
            try use(place(String(parts[0])), String(parts[1]))
        }
    }

    /// The value of a number in the last list, or of a key. A key that is missing in a domain stands for a new string.
    private func place(_ word: String) throws -> EditorItem {
        if let number = Int(word) {
            guard let item = listed[safe: number - 1] else {
                throw CommandError("there is no value \(number); l lists all")
            }
            return EditorItem.all(document.items).first { $0.path == item.path } ?? item
        }
        let path = try document.source.path(named: word, in: document.values)
        return EditorItem.all(document.items).first { $0.path == path }
            ?? EditorItem(path: path, name: path.text, typeName: "string", type: .string)
    }

    private mutating func use(_ item: EditorItem, _ text: String?) throws {
        guard let text else { return try write("\(item.path.text.printable) = \(item.text.printable)\n") }
        if item.isContainer { throw CommandError("`\(ShownText.key(item.path.text))` has entries; store those") }
        try change(.set(item.path, text, as: item.type))
    }

    private mutating func retype(_ rest: String) throws {
        let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
        guard document.source.isOpen, words.count == 2, let type = PropertyListType(rawValue: words[1]) else {
            let names = PropertyListType.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError(
                document.source.isOpen ? "expected t N TYPE; types are \(names)" : "the program determines the types")
        }
        try change(.retype(place(words[0]).path, to: type))
    }

    private mutating func change(_ change: EditorChange) throws {
        if let question = document.question(before: change) {
            try write("\(question.printable) ")
            guard try readLine()?.lowercased() == "y" else { return }
        }
        let (path, warning) = try document.perform(change)
        if let warning { try write(warning.shortText.printable + "\n") }
        try document.read()
        let item = EditorItem.all(document.items).first { $0.path == path }
        try write(line(path.text, item?.text ?? "(not set)") + "\n")
    }

    /// The values, and the containers without entries.
    private mutating func list() throws {
        listed = EditorItem.all(document.items).filter { $0.children.isEmpty }
        if let failure = document.failure { try write(failure.shortText.printable + "\n") }
        let width = "\(listed.count)".count
        for (index, item) in listed.enumerated() {
            let number = "\(index + 1)"
            let value = item.content == .notSet ? "(not set)" : item.text
            try write(line(DisplayWidth.spaces(width - number.count) + number + " " + item.path.text, value) + "\n")
        }
    }

    private func line(_ name: String, _ text: String) -> String {
        DisplayWidth.shortened("\(name) = \(text)".printable, to: columns)
    }
}
