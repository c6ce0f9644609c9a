import Foundation

/// The public members of the library that a client calls, found in its sources: `TYPE.NAME`, in the order of the files.
///
/// Types are counted by their own name, those of an extension with their requirements left out: `SettingsFile.load` stands for each
/// form. A member of an extension of another module's type counts too, such as `UserDefaults.subscript`. Files that only
/// have compiler errors are left out.
enum PublicMembers {
    /// A declaration.
    struct Member: Hashable, CustomStringConvertible {
        /// The type that it is in, without its outer types; "" for a member of the module.
        let type: String
        /// With its parameter labels: `update(timeout:_:)`. Initializers of one type are one member.
        let name: String

        var description: String { "\(type).\(name)" }
    }

    private static let types: Set<Substring> = ["class", "struct", "enum", "protocol", "extension", "actor"]
    private static let members: Set<Substring> = ["func", "var", "subscript", "init"]
    private static let modifiers: Set<Substring> = [
        "public", "open", "package", "internal", "private", "fileprivate", "final", "indirect", "static", "override",
        "convenience", "mutating", "nonmutating", "required", "set)", "nonisolated",
    ]
    private static let folders = [
        "PersistentPreferences", "PrefsJSON", "PrefsKeys", "PrefsLayers", "PrefsSettingsFiles", "PrefsStoreKit",
        "PrefsUI",
        "RVS_PersistentPrefs",
    ]

    /// How many declarations there are of each.
    static func all() throws -> [Member: Int] {
        var members: [Member: Int] = [:]
        for folder in folders {
            for file in DocumentationPage.swiftFiles(in: "Sources/\(folder)")
            where !file.lastPathComponent.hasSuffix("+Unavailable.swift") {
                for member in declared(in: try String(contentsOf: file, encoding: .utf8)) {
                    members[member, default: 0] += 1
                }
            }
        }
        return members
    }

    /// The formatter indents each scope by four spaces, so a declaration belongs to the last type above it with less indentation.
    private static func declared(in source: String) -> [Member] {
        var scopes: [(indentation: Int, type: String, isProtocol: Bool)] = []
        var members: [Member] = []
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            let code = line.drop { $0 == " " }
            let indentation = line.count - code.count
            if code.isEmpty || code.hasPrefix("//") || code.hasPrefix("#") { continue }
            while let scope = scopes.last, scope.indentation >= indentation { scopes.removeLast() }
            let words = withoutAttributes(code).split(whereSeparator: { " (<:?".contains($0) })
            let before = words.prefix { Self.modifiers.contains($0) }
            var rest = words.dropFirst(before.count)
            // `class` is also a modifier.
            if rest.first == "class", let next = rest.dropFirst().first, Self.members.contains(next) {
                rest.removeFirst()
            }
            guard let kind = rest.first, Self.types.contains(kind) || Self.members.contains(kind) else { continue }
            let isPublic = before.contains("public") || before.contains("open")
            if Self.types.contains(kind), let type = rest.dropFirst().first {
                scopes.append(
                    (indentation, String(type.split(separator: ".").last ?? type), kind == "protocol" && isPublic))
                continue
            }
            let isRequirement = scopes.last.map { $0.isProtocol && indentation == $0.indentation + 4 } ?? false
            guard isPublic || isRequirement else { continue }
            let text = complete(lines[number...])
            if let name = Self.name(of: text, kind: kind) {
                members.append(Member(type: scopes.last?.type ?? "", name: name))
            }
        }
        return members
    }

    private static func withoutAttributes(_ code: Substring) -> Substring {
        var rest = code
        while rest.first == "@" {
            rest = rest.drop { $0 != " " && $0 != "(" }
            var depth = 0
            repeat {
                guard let character = rest.first else { break }
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
                rest.removeFirst()
            } while depth > 0
            rest = rest.drop { $0 == " " }
        }
        return rest
    }

    /// The lines up to the end of the parameters.
    private static func complete(_ lines: ArraySlice<Substring>) -> String {
        var text = ""
        for line in lines {
            text += line.drop { $0 == " " }
            if text.count(where: { $0 == "(" || $0 == "[" }) == text.count(where: { $0 == ")" || $0 == "]" }) { break }
            text += " "
        }
        return text
    }

    private static func name(of declaration: String, kind: Substring) -> String? {
        switch kind {
        case "let": return nil
        case "init": return "init"
        case "subscript": return "subscript"
        case "var": return declaration.firstMatch(of: /\bvar `?(\w+)/).map { String($0.output.1) }
        default:
            guard let match = declaration.firstMatch(of: /\bfunc ([^\s(<]+)(?:<.*?>)?\s*\(/) else { return nil }
            return match.output.1.replacing("`", with: "") + "(\(labels(of: declaration[match.range.upperBound...])))"
        }
    }

    /// The labels of a list of parameters, from behind its opening parenthesis.
    private static func labels(of text: Substring) -> String {
        var (depth, labels, isAtStart) = (1, "", true)
        var word = ""
        for character in text {
            switch character {
            case "(", "[", "<": depth += 1
            case ")", "]", ">": depth -= 1
            case "," where depth == 1: (isAtStart, word) = (true, "")
            case " " where isAtStart && word.isEmpty: break
            case " ", ":":
                if depth == 1, isAtStart {
                    labels += word + ":"
                    isAtStart = false
                }
            default: if isAtStart { word.append(character) }
            }
            if depth == 0 { break }
        }
        return labels
    }
}
