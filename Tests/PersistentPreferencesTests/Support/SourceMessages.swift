import Foundation

/// The messages in the sources: the string literals behind a few words, with `…` for each interpolation.
enum SourceMessages {
    private static let package = URL(filePath: #filePath).appending(path: "../../../..").standardized

    /// - Parameters:
    ///   - folders: from the folder of the package.
    ///   - openers: what stands before a message, such as `CommandError(`.
    static func all(in folders: [String], after openers: [String]) throws -> Set<String> {
        var messages: Set<String> = []
        for folder in folders {
            let files =
                FileManager.default.enumerator(
                    at: package.appending(path: folder), includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
                ?? []
            for file in files where file.pathExtension == "swift" {
                let source = try String(contentsOf: file, encoding: .utf8)
                for start in openers.flatMap({ source.ranges(of: $0) }).map(\.upperBound) {
                    if let message = literal(source[start...]) { messages.insert(message) }
                }
            }
        }
        return messages
    }

    /// The literal at the beginning of a text, with those that are added to it; nil if there is none.
    private static func literal(_ text: Substring) -> String? {
        var rest = text.drop(while: \.isWhitespace)
        var message: String?
        while true {
            let hashes = rest.prefix { $0 == "#" }
            rest = rest.dropFirst(hashes.count)
            guard rest.first == "\"" else { return message }
            rest.removeFirst()
            var part = ""
            while let character = rest.popFirst(), character != "\"" || !rest.hasPrefix(hashes) {
                guard character == "\\", rest.hasPrefix(hashes) else {
                    part.append(character)
                    continue
                }
                rest = rest.dropFirst(hashes.count)
                guard let escaped = rest.popFirst() else { break }
                guard escaped == "(" else {
                    part.append(escaped)
                    continue
                }
                part.append("…")
                var depth = 1
                while depth > 0, let inner = rest.popFirst() { depth += inner == "(" ? 1 : inner == ")" ? -1 : 0 }
            }
            rest = rest.dropFirst(hashes.count)
            message = (message ?? "") + part
            let next = rest.drop(while: \.isWhitespace)
            guard next.first == "+" else { return message }
            rest = next.dropFirst().drop(while: \.isWhitespace)
        }
    }

    /// Whether a text is the message with something in the place of each interpolation.
    static func matches(_ message: String, _ text: String) -> Bool {
        let parts = message.split(separator: "…", omittingEmptySubsequences: false)
        var rest = text[...]
        for (number, part) in parts.enumerated() where !part.isEmpty {
            guard
                let range = number == 0
                    ? (rest.hasPrefix(part) ? rest.startIndex..<rest.index(rest.startIndex, offsetBy: part.count) : nil)
                    : rest.range(of: part)
            else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
