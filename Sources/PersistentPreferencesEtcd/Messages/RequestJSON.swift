import Foundation

/// Writes the JSON of requests. The gateway ignores fields that it does not know, so only the types of this folder use it.
enum RequestJSON {
    /// - Parameter members: names and JSON; nil leaves the member out.
    static func object(_ members: KeyValuePairs<String, String?>) -> String {
        "{" + members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",") + "}"
    }

    static func list(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

    static func bytes(_ bytes: Data) -> String { "\"\(bytes.base64EncodedString())\"" }

    /// 64 bits are a string.
    static func number(_ number: Int64) -> String { "\"\(number)\"" }

    static func text(_ text: String) -> String {
        // Every string can be encoded.
        guard let data = try? JSONEncoder().encode(text) else { preconditionFailure("the text is not JSON") }
        return String(decoding: data, as: UTF8.self)
    }
}
