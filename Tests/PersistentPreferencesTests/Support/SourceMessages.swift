import Foundation

/// The messages in the sources: their string literals, with `…` for each interpolation.
enum SourceMessages {
    private static let package = URL(filePath: #filePath).appending(path: "../../../..").standardized

    /// The messages behind a few words.
    ///
    /// - Parameters:
    ///   - folders: from the folder of the package.
    ///   - openers: what stands before a message, such as `CommandError(`.
    static func all(in folders: [String], after openers: [String]) throws -> Set<String> {
        Set(try literals(in: folders).filter { $0.isBehind(openers) }.map(\.text))
    }

    /// The lines of two words or more, and the questions, that are behind none of these words.
    ///
    /// - Parameter left: a folder or a file that is left out.
    static func others(
        in folders: [String], notAfter openers: [String], without left: String
    ) throws -> Set<String> {
        let others = try literals(in: folders, without: left).filter { !$0.isBehind(openers) }.map(\.text)
        return Set(
            others.filter { text in
                !text.trimmingCharacters(in: .newlines).contains("\n") && text.contains(#/[a-z]{2,}\??,? [a-z\[]/#)
            })
    }

    /// The words of all literals, such as the options in the commands of tests.
    static func words(in folders: [String], without left: String) throws -> Set<String> {
        let texts = try literals(in: folders, without: left).map(\.text)
        return Set(texts.flatMap { $0.split(separator: #/[ =\n]/#).map(String.init) })
    }

    private static func literals(in folders: [String], without left: String? = nil) throws -> [SourceLiterals.Literal] {
        try folders.flatMap { folder in
            let all = FileManager.default.enumerator(
                at: package.appending(path: folder), includingPropertiesForKeys: nil)
            let files = all?.compactMap { $0 as? URL }.filter { file in
                file.pathExtension == "swift" && !file.pathComponents.contains { $0 == left }
            }
            return try (files ?? []).flatMap { try SourceLiterals.all(in: Data(contentsOf: $0)) }
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

/// Reads the string literals of a Swift source, also those inside of interpolations.
struct SourceLiterals {
    struct Literal {
        /// The code before it, without blanks.
        fileprivate let opener: ArraySlice<UInt8>
        /// With the literals that are added to it.
        fileprivate(set) var text: String

        func isBehind(_ openers: [String]) -> Bool {
            openers.contains { opener.suffix($0.utf8.count).elementsEqual($0.utf8) }
        }
    }

    private let bytes: [UInt8]
    private var index = 0
    private var literals: [Literal] = []

    static func all(in source: Data) -> [Literal] {
        var reader = SourceLiterals(bytes: Array(source))
        reader.readCode()
        return reader.literals
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private func has(_ text: StaticString, at index: Int) -> Bool {
        text.withUTF8Buffer { bytes[min(index, bytes.count)...].starts(with: $0) }
    }

    private mutating func skip(past end: StaticString) {
        while index < bytes.count, !has(end, at: index) { index += 1 }
        index = min(bytes.count, index + end.utf8CodeUnitCount)
    }

    /// - Parameter isInterpolation: whether the code ends at a parenthesis that it has not opened.
    private mutating func readCode(isInterpolation: Bool = false) {
        var code: [UInt8] = []
        var depth = 0
        // The literal before, and the length of the code at its end.
        var former: (literal: Int, end: Int)?
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\n"):
                index += 1
                continue
            case UInt8(ascii: "/") where has("//", at: index): skip(past: "\n")
            case UInt8(ascii: "/") where has("/*", at: index): skip(past: "*/")
            case UInt8(ascii: "\""), UInt8(ascii: "#"):
                let (opener, number) = (code.suffix(40), literals.count)
                literals.append(Literal(opener: opener, text: ""))
                guard let text = readLiteral() else {
                    literals.removeLast()
                    code.append(byte)
                    index += 1
                    continue
                }
                if let former, code[former.end...].elementsEqual("+".utf8) {
                    literals[former.literal].text += text
                    literals.remove(at: number)
                } else {
                    literals[number].text = text
                }
                former = (
                    former.map { code[$0.end...].elementsEqual("+".utf8) ? $0.literal : number } ?? number, code.count
                )
            case UInt8(ascii: ")") where depth == 0 && isInterpolation:
                index += 1
                return
            default:
                depth += byte == UInt8(ascii: "(") ? 1 : byte == UInt8(ascii: ")") ? -1 : 0
                code.append(byte)
                index += 1
            }
        }
    }

    /// Reads the literal that begins here; nil if none does.
    private mutating func readLiteral() -> String? {
        let hashes = bytes[index...].prefix { $0 == UInt8(ascii: "#") }.count
        guard has("\"", at: index + hashes) else { return nil }
        let quotes = has("\"\"\"", at: index + hashes) ? 3 : 1
        index += hashes + quotes
        let mark = [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
        let (end, escape) = (
            [UInt8](repeating: UInt8(ascii: "\""), count: quotes) + mark, [UInt8(ascii: "\\")] + mark
        )
        var text: [UInt8] = []
        while index < bytes.count, !bytes[index...].starts(with: end) {
            guard bytes[index...].starts(with: escape), index + escape.count < bytes.count else {
                text.append(bytes[index])
                index += 1
                continue
            }
            let escaped = bytes[index + escape.count]
            index += escape.count + 1
            switch escaped {
            case UInt8(ascii: "("):
                text += Array("…".utf8)
                readCode(isInterpolation: true)
            case UInt8(ascii: "n"): text.append(UInt8(ascii: "\n"))
            // The line goes on.
            case UInt8(ascii: "\n"): text.append(0)
            default: text.append(escaped)
            }
        }
        index += end.count
        let literal = String(decoding: text, as: UTF8.self)
        return quotes == 1 ? literal : Self.withoutMargin(literal)
    }

    private static func withoutMargin(_ literal: String) -> String {
        let lines = literal.replacing("\0", with: "\0\n").split(separator: "\n", omittingEmptySubsequences: false)
        let margin = lines.last?.count ?? 0
        return lines.dropFirst().dropLast().map { $0.dropFirst(margin) }.joined(separator: "\n")
            .replacing("\0\n", with: "")
    }
}
