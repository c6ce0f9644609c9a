@testable import PrefsSupport
import Foundation

/// The input of a write: a value in one of the forms that a caller may use, or a value that must be rejected.
enum ModelInput {
    case plain(ModelValue)
    /// Objects of Foundation, mutable if possible. They are changed after the write, which must have no effect.
    case foundation(ModelValue)
    /// A value inside optionals.
    case optional(ModelValue)
    case bad(Bad)

    /// A value that no property list can hold; `VettingTests` has all of them.
    enum Bad: CaseIterable {
        case closure, missing, tooDeep, closureInside
    }

    /// The value; nil if it must be rejected.
    var value: ModelValue? {
        switch self {
        case .plain(let value), .foundation(let value), .optional(let value): value
        case .bad: nil
        }
    }

    /// - Parameter mutables: gets the objects that are changed after the write.
    func object(_ mutables: inout [NSObject]) -> Any {
        switch self {
        case .plain(let value): value.object
        case .foundation(let value): Self.foundation(value, &mutables)
        case .optional(let value): Any?.some(Any?.some(value.object) as Any) as Any
        case .bad(let bad): bad.object
        }
    }

    private static func foundation(_ value: ModelValue, _ mutables: inout [NSObject]) -> Any {
        let object: NSObject
        switch value {
        case .text(let text): object = NSMutableString(string: text.text)
        case .bool(let value): return NSNumber(value: value)
        case .integer(let value): return NSNumber(value: value)
        case .unsigned(let value): return NSNumber(value: value)
        case .real(let bits): return NSNumber(value: Double(bitPattern: bits))
        case .date(let seconds): return NSDate(timeIntervalSinceReferenceDate: seconds)
        case .data(let bytes): object = NSMutableData(data: Data(bytes))
        case .list(let elements): object = NSMutableArray(array: elements.map { foundation($0, &mutables) })
        case .dictionary(let entries):
            let dictionary = NSMutableDictionary()
            for (key, value) in entries { dictionary[key.text] = foundation(value, &mutables) }
            object = dictionary
        }
        mutables.append(object)
        return object
    }

    static func spoil(_ mutables: [NSObject]) {
        for object in mutables {
            switch object {
            case let text as NSMutableString: text.append("spoilt")
            case let data as NSMutableData: data.append(Data([0xFF]))
            case let array as NSMutableArray: array.add("spoilt")
            case let dictionary as NSMutableDictionary: dictionary["spoilt"] = 1
            default: break
            }
        }
    }
}

extension ModelInput.Bad {
    var object: Any {
        switch self {
        case .closure: return { 1 } as () -> Int
        case .missing: return Int?.none as Any
        case .tooDeep: return (0..<130).reduce(1 as Any) { value, _ in [value] }
        case .closureInside: return ["x", ["deep": { 1 } as () -> Int]] as [Any]
        }
    }
}
