public import PersistentPreferences
import PrefsPropertyLists

extension PrefsLayer {
    /// Returns the arguments that are neither an option of an instance's class nor its value, for your own parser. Short
    /// options are those that the arguments layer of the instance's store declares.
    /// Drops the program's name; keeps `--` and all arguments after it. Costs time linear in the number of arguments
    /// and keys. Any thread.
    ///
    /// ```swift
    /// for path in PrefsLayer.unusedArguments(by: prefs) { print(path) }
    /// ```
    public static func unusedArguments(
        by instances: PersistentPrefs..., in arguments: [String] = CommandLine.arguments
    ) -> [String] {
        let used = instances.reduce(into: Set<Int>()) { used, prefs in
            let layer = (prefs.state.roots.layers as? LayerStack)?.texts.lazy.compactMap(\.arguments).first
            let source = ArgumentSource(arguments, short: layer?.short ?? [:])
            used.formUnion(source.texts(for: TextLayer.keys(prefs.allowedKeyList, prefs.declarations)).used)
        }
        let words = Array(arguments.dropFirst())
        return words.indices.filter { !used.contains($0) }.map { words[$0] }
    }

    /// The options of a program, one paragraph for each property of the instances' classes, for its `--help`.
    ///
    /// ```swift
    /// if PrefsLayer.unusedArguments(by: prefs).prefix(while: { $0 != "--" }).contains("--help") {
    ///     print(PrefsLayer.usage(of: prefs))
    /// }
    /// ```
    ///
    /// Properties are in the order of their declaration. Each has its short option, if the arguments layer of the instance's
    /// store declares one, its option, the type of its values and its `.help`, then in parentheses the choices or the
    /// constraint, the default, and the variable, if the store has a layer with the environment. The default of a sensitive
    /// property, and nil, are left out. Without an arguments layer, a paragraph begins with the variable; a property that has
    /// neither is left out.
    ///
    /// A line has at most 80 characters, unless a single name is longer. Does not read the base. Costs time linear in the
    /// number of properties. Any thread.
    /// - Parameter instances: instances with stores of this program.
    /// - Returns: lines without a line feed at the end; empty if no property has an option or a variable.
    public static func usage(of instances: PersistentPrefs...) -> String {
        let rows = instances.flatMap { prefs in
            let texts = (prefs.state.roots.layers as? LayerStack)?.texts ?? []
            let arguments = texts.lazy.compactMap(\.arguments).first
            let variables = texts.first { $0.arguments == nil }
            return type(of: prefs).describe().compactMap { property -> UsageRow? in
                let variable = variables?.names(ofKey: property.key, in: prefs.declarations).first
                let option = TextLayer.keys([property.key], prefs.declarations).first.flatMap { key in
                    arguments?.usage(of: key, UsageRow.typeName(property.valueType))
                }
                return (option ?? variable.map { "  \($0)" }).map { head in
                    UsageRow(
                        head, property, isSensitive: prefs.isSensitive(property.key),
                        variable: option == nil ? nil : variable)
                }
            }
        }
        let column = min(rows.map(\.head.count).max() ?? 0, 26) + 2
        return rows.map { $0.text(at: column) }.joined(separator: "\n")
    }
}

/// The paragraph of one property.
private struct UsageRow {
    /// The names, with the blanks before them.
    let head: String
    private let words: [Substring]

    init(_ head: String, _ property: PrefDescription, isSensitive: Bool, variable: String?) {
        self.head = head
        var facts: [String] = []
        let type = Self.wrapped(property.valueType)
        if type is any ListValue.Type { facts.append("may be repeated") }
        // Longer lists are no help.
        if type != Bool.self, let choices = property.choices, choices.count <= 12 {
            facts.append("one of " + choices.joined(separator: ", "))
        } else if let constraint = property.constraint {
            facts.append(constraint)
        }
        let stored = isSensitive ? nil : property.property.storedDefault
        if let stored, stored.array?.isEmpty != true, stored.dictionary?.isEmpty != true,
            let text = (property.property as? any TextProperty)?.text(of: stored)
        {
            let shown = ShownText.line(text, longest: 40)
            facts.append("default " + (type == String.self ? "\"\(shown)\"" : shown))
        }
        facts += [variable].compactMap { $0 }
        let end = facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))"
        words = ((property.help ?? "") + end).split(whereSeparator: \.isWhitespace)
    }

    private static func wrapped(_ type: Any.Type) -> Any.Type { (type as? any OptionalValue.Type)?.wrappedType ?? type }

    /// The type of one value of an option.
    static func typeName(_ type: Any.Type) -> String {
        let type = wrapped(type)
        let name = "\((type as? any ListValue.Type)?.elementType ?? type)"
        return name.hasPrefix("Dictionary<") ? "[\(name.dropFirst(11).dropLast().replacing(", ", with: ": "))]" : name
    }

    /// The paragraph, with its text at a column.
    func text(at column: Int) -> String {
        var (text, line) = (head, head.count)
        for (index, word) in words.enumerated() {
            let isNew = index == 0 ? line + 2 > column : line + 1 + word.count > 80
            if isNew { (text, line) = (text + "\n", 0) }
            let blanks = isNew || index == 0 ? column - line : 1
            text += String(repeating: " ", count: blanks) + word
            line += blanks + word.count
        }
        return text
    }
}

extension PersistentPrefs {
    /// The names of a key in the environment, in the arguments and in folders of secrets, by the layers of the instance's
    /// store, the highest first. The derived name comes before the exact one.
    ///
    /// `kind` is `variable`, `option` or `file`.
    package func namesInLayers(ofKey key: String) -> [(kind: String, names: [String])] {
        guard let stack = state.roots.layers as? LayerStack else { return [] }
        return (stack.above + stack.below).compactMap { layer in
            switch layer.source {
            case .entries(.text(let text)):
                (text.arguments == nil ? "variable" : "option", text.names(ofKey: key, in: declarations))
            case .secrets(let folder): ("file", folder.read().texts.names(ofKey: key, in: declarations))
            case .entries, .file: nil
            }
        }
    }
}
