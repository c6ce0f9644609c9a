import Foundation

/// The one pass that decides what a property list can hold: it yields the canonical deep copy of a value, or says where
/// and why there is none.
///
/// Foundation's own check (`propertyList(_:isValidFor:)`) lets through values that are then lost or crash the encoder;
/// nothing reaches an encoder of this package that has not passed here.
struct PropertyListVetter {
    private(set) var failures: [PropertyListFailure] = []
    private let topLevelKey: String
    private var bytes = 0

    /// The canonical copy of a value, or every failure found in it.
    static func canonical(_ value: Any, forKey key: String) -> Result<Any, Refusal> {
        var vetter = PropertyListVetter(topLevelKey: key)
        let copy = vetter.copy(value, at: .root(key), depth: 1)
        guard let copy, vetter.failures.isEmpty else { return .failure(Refusal(failures: vetter.failures)) }
        return .success(copy)
    }

    struct Refusal: Error {
        let failures: [PropertyListFailure]
    }

    private init(topLevelKey: String) {
        self.topLevelKey = topLevelKey
    }

    // MARK: - One value

    private mutating func copy(_ value: Any, at path: Path, depth: Int) -> Any? {
        var value = value
        // A value may be wrapped in any number of optionals: a loop, where recursion would need a limit.
        while true {
            // Each value costs something: shared references multiply, and their bytes bound the work.
            bytes += 9
            guard bytes <= PropertyListLimits.rootBytes else {
                return refuseAsTooLarge(at: path)
            }
            if let scalar = copyScalar(value, at: path) { return scalar.copy }
            if let optional = value as? any OptionalValue {
                guard let wrapped = optional.wrappedValue else {
                    return refuse("nil cannot be stored in a property list", at: path)
                }
                value = wrapped
            } else if type(of: value) == AnyHashable.self, let hashable = value as? AnyHashable {
                value = hashable.base
            } else {
                return copyContainer(value, at: path, depth: depth)
            }
        }
    }

    private mutating func copyContainer(_ value: Any, at path: Path, depth: Int) -> Any? {
        switch value {
        case let array as any ArrayValue:
            return container(at: path, depth: depth) { $0.copyElements(array.elements, at: path, depth: depth) }
        case let dictionary as any DictionaryValue:
            return container(at: path, depth: depth) { $0.copyPairs(dictionary.pairs, at: path, depth: depth) }
        default:
            return refuse(UnsupportedValue.reason(for: value), at: path)
        }
    }

    /// The copy of a scalar (nil inside where it is refused), or nil where the value is no scalar.
    private mutating func copyScalar(_ value: Any, at path: Path) -> (copy: Any?, Void)? {
        let kind = type(of: value)
        if kind is AnyClass {
            switch value {
            case is NSDecimalNumber: return (refuse(UnsupportedValue.decimal, at: path), ())
            case let number as NSNumber: return (CanonicalNumber(number).object, ())
            case let text as NSString: return (copyText(text, at: path), ())
            case let data as NSData: return (copyData(Data(bytes: data.bytes, count: data.length), at: path), ())
            case let date as NSDate: return (copyDate(date.timeIntervalSinceReferenceDate, at: path), ())
            default: return nil
            }
        }
        // Exact types only: a cast would turn numbers and Booleans into one another.
        switch ObjectIdentifier(kind) {
        case Kind.string: return (copyText(value as? String ?? "", at: path), ())
        case Kind.bool: return (value as? Bool, ())
        case Kind.double, Kind.float:
            return ((value as? Double ?? (value as? Float).map(Double.init)).map { CanonicalNumber($0).object }, ())
        case Kind.date: return ((value as? Date).flatMap { copyDate($0.timeIntervalSinceReferenceDate, at: path) }, ())
        case Kind.data: return ((value as? Data).flatMap { copyData($0, at: path) }, ())
        default:
            guard Kind.integers.contains(ObjectIdentifier(kind)), let value = value as? any FixedWidthInteger else {
                return nil
            }
            return (CanonicalNumber(value).object, ())
        }
    }

    private mutating func copyText(_ text: String, at path: Path) -> String? {
        var copy = text
        copy.makeContiguousUTF8()
        bytes += CanonicalValue.encodedBytes(of: copy)
        return bytes <= PropertyListLimits.rootBytes ? copy : refuseAsTooLarge(at: path)
    }

    private mutating func copyText(_ text: NSString, at path: Path) -> String? {
        let length = text.length
        guard length <= PropertyListLimits.rootBytes else { return refuseAsTooLarge(at: path) }
        // Unit by unit: Foundation on Linux takes a subclass with a storage of its own for an empty text.
        let units = (0..<length).map(text.character(at:))
        let copy = String(decoding: units, as: UTF16.self)
        // A surrogate without its partner has no UTF-8: the conversion puts U+FFFD in its place.
        guard copy.utf16.elementsEqual(units) else {
            return refuse("a text with an unpaired surrogate cannot be stored in a property list", at: path)
        }
        return copyText(copy, at: path)
    }

    private mutating func copyData(_ data: Data, at path: Path) -> Data? {
        bytes += data.count
        guard bytes <= PropertyListLimits.rootBytes else { return refuseAsTooLarge(at: path) }
        // Bytes may belong to somebody else (NSMutableData, bytesNoCopy): the copy owns its own.
        return data.withUnsafeBytes { Data($0) }
    }

    private mutating func copyDate(_ interval: TimeInterval, at path: Path) -> Date? {
        guard interval.isFinite else { return refuse("a date must be finite", at: path) }
        guard abs(interval) <= PropertyListLimits.dateInterval else {
            return refuse("a date this far away cannot be stored in a property list", at: path)
        }
        return Date(timeIntervalSinceReferenceDate: interval)
    }

    // MARK: - Containers

    private mutating func container<T>(
        at path: Path, depth: Int, _ copyContent: (inout PropertyListVetter) -> T?
    ) -> T? {
        guard depth <= PropertyListLimits.depth else {
            return refuse("nested deeper than \(PropertyListLimits.depth) levels", at: path)
        }
        return copyContent(&self)
    }

    private mutating func copyElements(_ elements: some Sequence<Any>, at path: Path, depth: Int) -> [Any]? {
        var copies: [Any] = []
        for (index, element) in elements.enumerated() {
            if let copy = copy(element, at: .index(index, path), depth: depth + 1) { copies.append(copy) }
            if isExhausted { return nil }
        }
        return copies
    }

    private mutating func copyPairs(_ pairs: some Sequence<(Any, Any)>, at path: Path, depth: Int) -> [String: Any]? {
        var copies: [String: Any] = [:]
        for (key, value) in pairs {
            let key = (key as? AnyHashable)?.base ?? key
            guard let text = key as? String else {
                return refuse(
                    "a key of type \(type(of: key)) cannot be stored in a property list; keys are texts", at: path)
            }
            let place = Path.key(text, path)
            let isObject = type(of: key) is AnyClass
            let name = isObject ? (key as? NSString).flatMap { copyText($0, at: place) } : copyText(text, at: place)
            guard let name else { return nil }
            if copies.index(forKey: name) != nil {
                return refuse("two keys differ only in their Unicode spelling", at: place)
            }
            if let copy = copy(value, at: place, depth: depth + 1) { copies[name] = copy }
            if isExhausted { return nil }
        }
        // In XML it is read as the object of a keyed archive, a real number too.
        if copies.count == 1, let value = copies["CF$UID"], CanonicalValue.isNumber(value) {
            return refuse("a dictionary of a lone number CF$UID cannot be stored in a property list", at: path)
        }
        return copies
    }

    // MARK: - Refusals

    /// Past the budget nothing is looked at any more: shared references multiply, and a cycle has no end.
    private var isExhausted: Bool {
        bytes > PropertyListLimits.rootBytes || failures.count >= Self.mostFailures
    }

    /// Failures reported for one key; a list of a million closures needs no million lines.
    private static let mostFailures = 100

    private mutating func refuse<T>(_ reason: String, at path: Path) -> T? {
        failures.append(
            PropertyListFailure(path: path.description, topLevelKey: topLevelKey, reason: reason))
        return nil
    }

    private mutating func refuseAsTooLarge<T>(at path: Path) -> T? {
        guard failures.last?.reason != Self.tooLarge else { return nil }
        return refuse(Self.tooLarge, at: path)
    }

    private static let tooLarge =
        "larger than \(PropertyListLimits.rootBytes >> 20) MiB"
}

/// Where the vetter stands; its text is made only when something is refused.
private indirect enum Path: CustomStringConvertible {
    case root(String)
    case key(String, Path)
    case index(Int, Path)

    var description: String {
        switch self {
        case .root(let key): key
        case .key(let key, let parent): "\(parent).\(key)"
        case .index(let index, let parent): "\(parent)[\(index)]"
        }
    }
}

private enum Kind {
    static let string = ObjectIdentifier(String.self)
    static let bool = ObjectIdentifier(Bool.self)
    static let double = ObjectIdentifier(Double.self)
    static let float = ObjectIdentifier(Float.self)
    static let date = ObjectIdentifier(Date.self)
    static let data = ObjectIdentifier(Data.self)
    static let integers: Set<ObjectIdentifier> = [
        ObjectIdentifier(Int.self), ObjectIdentifier(Int8.self), ObjectIdentifier(Int16.self),
        ObjectIdentifier(Int32.self), ObjectIdentifier(Int64.self), ObjectIdentifier(UInt.self),
        ObjectIdentifier(UInt8.self), ObjectIdentifier(UInt16.self), ObjectIdentifier(UInt32.self),
        ObjectIdentifier(UInt64.self),
    ]
}
