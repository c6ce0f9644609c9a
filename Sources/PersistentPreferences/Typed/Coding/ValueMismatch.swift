import Foundation

/// A stored object is not what a type can be made of. The path grows on the way out of the containers.
struct ValueMismatch: Error {
    private(set) var path = ""
    let reason: String

    init(reason: String) {
        self.reason = reason
    }

    init(expected type: Any.Type, found object: Any) {
        reason = "\(Self.kind(of: object)) is no \(type)"
    }

    /// What a decoder of somebody's type has thrown. Its own words may quote what is stored, which no error of ours does.
    init(_ error: any Error, in type: Any.Type) {
        let codingPath: [any CodingKey]
        switch error {
        case let error as ValueMismatch:
            self = error
            return
        case DecodingError.typeMismatch(let type, let context):
            reason = "what is stored is no \(type)"
            codingPath = context.codingPath
        case DecodingError.valueNotFound(let type, let context):
            reason = "there is no value where \(type) is wanted"
            codingPath = context.codingPath
        case DecodingError.keyNotFound(let key, let context):
            reason = "the key \"\(key.stringValue)\" is missing"
            codingPath = context.codingPath
        case DecodingError.dataCorrupted(let context):
            reason = "what is stored is no \(type)"
            codingPath = context.codingPath
        default:
            reason = "what is stored is no \(type)"
            codingPath = []
        }
        path = Self.text(of: codingPath)
    }

    func inside(_ step: String) -> ValueMismatch {
        var outer = self
        outer.path = step + path
        return outer
    }

    func failure(forKey key: String) -> PropertyListFailure {
        PropertyListFailure(path: key + path, topLevelKey: key, reason: reason)
    }

    static func text(of path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
    }

    /// What an object is, in a word and with its article; never what it says.
    static func kind(of object: Any) -> String {
        switch object {
        case is String: "a text"
        case is Bool where type(of: object) == Bool.self: "a Boolean"
        case is NSNumber: "a number"
        case is Date: "a date"
        case is Data: "data"
        case is [Any]: "a list"
        case is [String: Any]: "a dictionary"
        default: "an object"
        }
    }
}
