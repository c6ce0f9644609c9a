import PrefsPropertyLists

/// The arguments of a program. A key has an option, `--font-size`, and the argument of `UserDefaults`, `-fontSize`.
struct ArgumentSource: TextSource {
    /// The arguments before `--`, without the name of the program.
    let items: [String]
    /// The indices of the items that are repaired texts of other bytes.
    private let repaired: Set<Int>

    /// - Parameters:
    ///   - arguments: the name of the program and its arguments.
    ///   - isText: whether the argument at the index is its text, and not a repaired one.
    init(_ arguments: [String], isText: (_ index: Int, _ argument: String) -> Bool = { _, _ in true }) {
        let items = Array(arguments.dropFirst().prefix { $0 != "--" })
        self.items = items
        repaired = Set(items.indices.filter { !isText($0 + 1, items[$0]) })
    }

    /// What an option does to its key.
    private enum Option {
        /// `--font-size`, which needs a value.
        case value(key: String)
        /// `--verbose`, which may have a value: `--verbose=false`.
        case flag(key: String)
        /// `--no-verbose`, which has no value.
        case negation(key: String)
    }

    func texts(for keys: [TextKey]) -> KeyTexts {
        let named = owners(of: keys, name: { self.option($0) }, kind: "option")
        let negated = owners(of: keys, name: { self.negation($0) }, kind: "option")
        // A key of this name wins over the negation of another key.
        let options = negated.byName.mapValues { Option.negation(key: $0.name) }
            .merging(named.byName.mapValues { $0.isFlag ? .flag(key: $0.name) : .value(key: $0.name) }) { $1 }
        let exact = Dictionary(uniqueKeysWithValues: keys.map { (self.exact($0), $0.name) })
        var result = KeyTexts()
        result.sharedNames = named.shared
        for (index, word) in items.enumerated() {
            let (name, value) = Self.parts(of: word)
            let next = index + 1 < items.count ? items[index + 1] : nil
            let found: (key: String, content: LayerText.Content, takesNext: Bool)
            if let option = options[name] {
                found = Self.found(option, value: value, next: next)
            } else if let key = exact[word] {
                found = (key, Self.content(next), next != nil)
            } else {
                continue
            }
            // The last one wins.
            let isText = !repaired.contains(found.takesNext ? index + 1 : index)
            result.texts[found.key] = LayerText(
                place: exact[word] == nil ? name : word, content: isText ? found.content : .notText)
            result.used.insert(index)
            if found.takesNext { result.used.insert(index + 1) }
        }
        return result
    }

    /// The name and the value of `--name=value`; another word as a whole.
    private static func parts(of word: String) -> (name: String, value: String?) {
        let parts = word.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard word.utf8.starts(with: "--".utf8), parts.count == 2 else { return (word, nil) }
        return (String(Substring(parts[0])), String(Substring(parts[1])))
    }

    private static func found(
        _ option: Option, value: String?, next: String?
    ) -> (key: String, content: LayerText.Content, takesNext: Bool) {
        switch option {
        case .flag(let key): (key, .text(value ?? "true"), false)
        case .negation(let key): (key, value == nil ? .text("false") : .flaw(reason: "takes no value"), false)
        case .value(let key):
            if let value {
                (key, .text(value), false)
            } else if let next, !next.utf8.starts(with: "--".utf8) {
                (key, .text(next), true)
            } else {
                // The next word is an option. A value that begins so is written with an equals sign.
                (key, content(nil), false)
            }
        }
    }

    private static func content(_ text: String?) -> LayerText.Content {
        text.map { .text($0) } ?? .flaw(reason: "expected a value after it")
    }

    func names(of key: TextKey) -> [String] {
        [option(key), negation(key), exact(key)].compactMap { $0 }
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
