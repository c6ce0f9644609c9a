import Foundation

/// A stored object is not what a type can be made of. The path grows on the way out of the containers.
package struct ValueMismatch: Error {
    package private(set) var path = ""
    package let reason: String
    /// The path of a member that was asked for and is not there.
    private(set) var missing: String?

    package init(reason: String) {
        self.reason = reason
    }

    init(expected type: Any.Type, found object: Any) {
        reason = "\(Self.kind(of: object)) is no \(type)"
    }

    /// What a decoder of somebody's type has thrown. Its own words may quote what is stored, which no error of ours does.
    ///
    package init(_ error: any Error, in type: Any.Type) {
        self.init(error, in: type, noted: nil)
    }

    /// - Parameter notes: where it was thrown, and by which type.
    init(_ error: any Error, in type: Any.Type, noted notes: CodingState?) {
        let type = notes?.failure?.type ?? type
        let codingPath: [any CodingKey]
        switch error {
        case let error as ValueMismatch:
            self = error
            return
        case DecodingError.typeMismatch(let type, let context):
            let mismatch = context.underlyingError as? ValueMismatch
            reason = mismatch?.reason ?? "what is stored is no \(type)"
            codingPath = context.codingPath
        case DecodingError.valueNotFound(let type, let context):
            reason = "there is no value where \(type) is wanted"
            codingPath = context.codingPath
        case DecodingError.keyNotFound(let key, let context):
            reason = "the key \"\(ShownText.key(key.stringValue))\" is missing"
            codingPath = context.codingPath
            missing = Self.text(of: context.codingPath + [key])
        case DecodingError.dataCorrupted(let context):
            reason = "what is stored is no \(type)"
            codingPath = context.codingPath
        default:
            reason = "what is stored is no \(type)"
            codingPath = notes?.failure?.place.path ?? []
        }
        path = Self.text(of: codingPath)
    }

    /// What an encoding has thrown. Its own words may quote the value.
    package init(encoding error: any Error, of type: Any.Type) {
        self.init(encoding: error, of: type, noted: nil)
    }

    init(encoding error: any Error, of type: Any.Type, noted notes: CodingState?) {
        let type = notes?.failure?.type ?? type
        let place = notes?.failure?.place.path ?? []
        switch error {
        case let error as ValueMismatch:
            self = error
            if path.isEmpty { path = Self.text(of: place) }
        case EncodingError.invalidValue(let value, let context):
            reason = "\(Swift.type(of: value)) could not be encoded"
            path = Self.text(of: context.codingPath)
        default:
            reason = "\(type) could not be encoded: \(Swift.type(of: error))"
            path = Self.text(of: place)
        }
    }

    func inside(_ step: String) -> ValueMismatch {
        var outer = self
        outer.path = step + path
        return outer
    }

    package func failure(forKey key: String) -> PropertyListFailure {
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
