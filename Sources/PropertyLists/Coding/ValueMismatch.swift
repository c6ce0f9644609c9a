import Foundation

/// A value does not fit: a stored one cannot be decoded as the expected type, or a new one cannot be stored. Each container
/// that the error leaves adds its step to the path.
package struct ValueMismatch: Error {
    package private(set) var path = ""
    package let reason: String
    /// The path of a requested member that is missing.
    private(set) var missing: String?
    /// The other parts that do not fit. A coder stops at the first; `PropertyListVetter` looks at all parts.
    private var others: [(path: String, reason: String)] = []

    package init(reason: String) {
        self.reason = reason
    }

    /// - Parameter refusals: one or more.
    init(refused refusals: [(path: String, reason: String)]) {
        let first = refusals.first
        (path, reason) = (first?.path ?? "", first?.reason ?? "cannot be stored")
        others = Array(refusals.dropFirst())
    }

    init(expected type: Any.Type, found stored: StoredValue, as form: ValueForm = .exact) {
        let kind = Self.kind(of: stored)
        var example = form.others?.example(of: type)
        let flaw = Self.flaw(of: stored, as: type)
        if flaw != nil, let type = type as? any FixedWidthInteger.Type { example = "\(type.min)...\(type.max)" }
        reason = "expected \(type)\(example.map { " (\($0))" } ?? ""), found \(kind)\(flaw.map { " \($0)" } ?? "")"
    }

    /// Why a type of numbers does not have a stored number. nil for other types and values, and for a fraction, which no
    /// type of integers has.
    private static func flaw(of stored: StoredValue, as type: Any.Type) -> String? {
        guard let number = stored.nearestDouble else { return nil }
        func isBeyond<Whole: FixedWidthInteger>(_ type: Whole.Type) -> Bool {
            kind(of: stored) == integer || number < Double(Whole.min) || number >= Double(Whole.max)
        }
        let losesDigits: Bool
        switch type {
        case let type as any FixedWidthInteger.Type: return isBeyond(type) ? "out of its range" : nil
        case is Float.Type: losesDigits = Float(number).isFinite && Float(number) != 0
        case is Double.Type: losesDigits = true
        case is Decimal.Type: losesDigits = stored.hasMoreDigitsThanADecimal
        default: return nil
        }
        return losesDigits ? "with more digits than a \(type) has" : "out of its range"
    }

    /// Creates a mismatch from an error that the decoder of a type has thrown. The text of the error is dropped,
    /// because it may quote the stored value.
    ///
    /// - Parameter place: the type that threw the error, and where it stands; nil if only the whole value is known.
    package init(
        _ error: any Error, in type: Any.Type, at place: (path: [any CodingKey], type: Any.Type)? = nil
    ) {
        let type = place?.type ?? type
        let codingPath: [any CodingKey]
        switch error {
        case let error as ValueMismatch:
            self = error
            return
        case DecodingError.typeMismatch(let type, let context):
            let mismatch = context.underlyingError as? ValueMismatch
            reason = mismatch?.reason ?? "the stored value is not a valid \(type)"
            codingPath = context.codingPath
        case DecodingError.valueNotFound(let type, let context):
            reason = "expected \(type), found no value"
            codingPath = context.codingPath
        case DecodingError.keyNotFound(let key, let context):
            reason = "the key \"\(ShownText.key(key.stringValue))\" is missing"
            codingPath = context.codingPath
            missing = Self.text(of: context.codingPath + [key])
        case DecodingError.dataCorrupted(let context):
            reason = "the stored value is not a valid \(type)"
            codingPath = context.codingPath
        default:
            reason = "the stored value is not a valid \(type)"
            codingPath = place?.path ?? []
        }
        path = Self.text(of: codingPath)
    }

    /// Creates a mismatch from an error that an encoding has thrown. The text of the error is dropped, because it may
    /// quote the value.
    ///
    /// - Parameter place: as for a decoding.
    package init(
        encoding error: any Error, of type: Any.Type, at place: (path: [any CodingKey], type: Any.Type)? = nil
    ) {
        let type = place?.type ?? type
        let codingPath = place?.path ?? []
        switch error {
        case let error as ValueMismatch:
            self = error
            if path.isEmpty { path = Self.text(of: codingPath) }
        case EncodingError.invalidValue(let value, let context):
            reason = "\(Swift.type(of: value)) could not be encoded"
            path = Self.text(of: context.codingPath)
        default:
            reason = "\(type) could not be encoded: \(Swift.type(of: error))"
            path = Self.text(of: codingPath)
        }
    }

    func inside(_ step: String) -> ValueMismatch {
        var mismatch = self
        mismatch.path = step + path
        mismatch.others = others.map { (step + $0.path, $0.reason) }
        return mismatch
    }

    package func failure(forKey key: String) -> PropertyListFailure {
        PropertyListFailure(path: key + path, topLevelKey: key, reason: reason)
    }

    /// `failure(forKey:)`, then those of the other parts that do not fit.
    package func failures(forKey key: String) -> [PropertyListFailure] {
        [failure(forKey: key)]
            + others.map { PropertyListFailure(path: key + $0.path, topLevelKey: key, reason: $0.reason) }
    }

    static func text(of path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
    }

    private static let integer = "an integer"

    /// The kind of a value, with its article. Never contains the value.
    package static func kind(of value: StoredValue) -> String {
        switch value {
        case .string: "a string"
        case .bool: "a Boolean"
        case .integer, .unsigned: integer
        case .decimal(let text) where NumberText.isWhole(text): integer
        case .real, .decimal: "a real number"
        case .date: "a date"
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .uid, .foreign: "an object"
        case .null: "null"
        }
    }
}
