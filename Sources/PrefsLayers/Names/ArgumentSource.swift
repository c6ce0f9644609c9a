import PrefsPropertyLists

/// The arguments of a program. A key has an option, `--font-size`, the argument of `UserDefaults`, `-fontSize`, and short
/// options that the program declares, `-f`.
struct ArgumentSource: TextSource {
    /// The arguments before `--`, without the name of the program.
    let items: [String]
    /// The keys of short options.
    let short: [Character: String]
    /// The indices of the items that are repaired texts of other bytes.
    private let repaired: Set<Int>

    /// - Parameters:
    ///   - arguments: the name of the program and its arguments.
    ///   - short: the keys of short options by their letters.
    ///   - isText: whether the argument at the index is its text, and not a repaired one.
    init(
        _ arguments: [String], short: [Character: String] = [:],
        isText: (_ index: Int, _ argument: String) -> Bool = { _, _ in true }
    ) {
        let items = Array(arguments.dropFirst().prefix { $0 != "--" })
        self.items = items
        self.short = short
        repaired = Set(items.indices.filter { !isText($0 + 1, items[$0]) })
    }

    func texts(for keys: [TextKey]) -> KeyTexts {
        let named = owners(of: keys, name: { self.option($0) }, kind: "option")
        let negated = owners(of: keys, name: { self.negation($0) }, kind: "option")
        // A key of this name wins over the negation of another key.
        let options = negated.byName.mapValues { (key: $0, isNegation: true) }
            .merging(named.byName.mapValues { (key: $0, isNegation: false) }) { $1 }
        let exact = Dictionary(uniqueKeysWithValues: keys.map { (self.exact($0), $0) })
        let letters = short.compactMapValues { key in keys.first { $0.name == key } }
        var result = KeyTexts()
        result.sharedNames = named.shared
        /// The index of the last word that is a value.
        var value = -1
        for (index, word) in items.enumerated() {
            let next = index + 1 < items.count ? items[index + 1] : nil
            let (name, given) = Self.parts(of: word)
            let found: [Found]
            if let option = options[name] {
                found = [Self.found(option.key, name, isNegation: option.isNegation, value: given, next: next)]
            } else if let key = exact[word] {
                found = [Found(key: key, place: word, content: Self.content(next), takesNext: next != nil)]
            } else {
                // The value of another option may begin with a dash.
                found = index == value ? [] : Self.found(word, letters, next: next)
            }
            for found in found {
                let isText = !repaired.contains(found.takesNext ? index + 1 : index)
                result.add(
                    LayerText(place: found.place, content: isText ? found.content : .notText), to: found.key)
                result.used.insert(index)
                if found.takesNext {
                    value = index + 1
                    result.used.insert(value)
                }
            }
        }
        return result
    }

    private struct Found {
        let key: TextKey
        let place: String
        let content: LayerText.Content
        let takesNext: Bool
    }

    /// The short options of a word: `-p 5`, `-p5`, `-p=5`, also after those of Bools, `-vp5`. Empty if a letter is not one
    /// of them.
    private static func found(_ word: String, _ keys: [Character: TextKey], next: String?) -> [Found] {
        var letters = word.dropFirst()
        guard word.utf8.first == UInt8(ascii: "-") else { return [] }
        var all: [Found] = []
        while let letter = letters.popFirst() {
            guard let key = keys[letter] else { return [] }
            let hasValue = letters.first == "=" || !key.isFlag && !letters.isEmpty
            let value = hasValue ? String(letters.first == "=" ? letters.dropFirst() : letters) : nil
            all.append(found(key, "-\(letter)", value: value, next: next))
            if hasValue { break }
        }
        return all
    }

    /// The name and the value of `--name=value`; another word as a whole.
    private static func parts(of word: String) -> (name: String, value: String?) {
        let parts = word.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard word.utf8.starts(with: "--".utf8), parts.count == 2 else { return (word, nil) }
        return (String(Substring(parts[0])), String(Substring(parts[1])))
    }

    /// - Parameters:
    ///   - isNegation: for `--no-verbose`, which has no value. That of a Bool, `--verbose`, may have one: `--verbose=false`.
    ///   - value: the text in the word itself.
    private static func found(
        _ key: TextKey, _ place: String, isNegation: Bool = false, value: String?, next: String?
    ) -> Found {
        if isNegation {
            let content = value == nil ? LayerText.Content.text("false") : .flaw(reason: "takes no value")
            return Found(key: key, place: place, content: content, takesNext: false)
        }
        if let value = value ?? (key.isFlag ? "true" : nil) {
            return Found(key: key, place: place, content: .text(value), takesNext: false)
        }
        // The next word may be an option. A value that begins so is written with an equals sign.
        let next = next.flatMap { $0.utf8.starts(with: "--".utf8) ? nil : $0 }
        return Found(key: key, place: place, content: content(next), takesNext: next != nil)
    }

    private static func content(_ text: String?) -> LayerText.Content {
        text.map { .text($0) } ?? .flaw(reason: "expected a value after it")
    }

    func names(of key: TextKey) -> [String] {
        [option(key), negation(key), exact(key)].compactMap { $0 } + letters(of: key)
    }

    private func letters(of key: TextKey) -> [String] {
        short.filter { $0.value == key.name }.map { "-\($0.key)" }.sorted()
    }

    /// The names of a key for people: `  -f, --font-size <Int>`. A key without words has its exact argument only.
    func usage(of key: TextKey, _ typeName: String) -> String {
        let short = letters(of: key).map { $0 + ", " }.joined()
        guard let name = KeyWords(key.name).option else { return "  \(short)\(exact(key)) <\(typeName)>" }
        let option = key.isFlag ? "--[no-]\(name)" : "--\(name) <\(typeName)>"
        return "  \(short.isEmpty ? "    " : short)\(option)"
    }

    /// The argument may be an option of the program, so only a likely mistake is worth a note.
    func notes(aboutUnused items: [String], names: [String]) -> [NameNote] {
        /// One dash or two.
        func dashes(_ word: String) -> Int { word.utf8.prefix(2).prefix { $0 == UInt8(ascii: "-") }.count }
        let known = Set(names)
        let alike = Dictionary(grouping: names, by: dashes).mapValues { names in
            NearestWord(among: names.map { String($0.dropFirst(dashes($0))) })
        }
        return items.compactMap { item in
            let word = Self.parts(of: item).name
            let count = dashes(word)
            let rest = String(word.dropFirst(count))
            if count > 0, rest.count == 1,
                let near = names.first(where: { $0 != word && $0.lowercased() == word.lowercased() })
            {
                return NameNote(place: word, reason: "no key has this argument; did you mean \"\(near)\"?")
            }
            // Two letters resemble too many words. A name that several keys have is a fault already.
            guard count > 0, rest.count > 2, !known.contains(word), let near = alike[count]?.nearest(to: rest) else {
                return nil
            }
            let name = ShownText.line(word.prefix(count) + near, longest: 80)
            return NameNote(place: word, reason: "no key has this argument; did you mean \"\(name)\"?")
        }
    }

    private func exact(_ key: TextKey) -> String { "-" + key.name }

    private func option(_ key: TextKey) -> String? { KeyWords(key.name).option.map { "--" + $0 } }

    private func negation(_ key: TextKey) -> String? {
        key.isFlag ? KeyWords(key.name).option.map { "--no-" + $0 } : nil
    }
}
