import Foundation

/// The one pass that decides what a property list can hold. It returns the canonical deep copy of a value, or the places and reasons
/// of all failures.
///
/// Foundation's own check (`propertyList(_:isValidFor:)`) accepts values that are then lost or that crash the encoder. Every value
/// passes this check before it reaches an encoder of this package.
package struct PropertyListVetter {
    private(set) var failures: [PropertyListFailure] = []
    private let topLevelKey: String
    private var bytes = 0
    /// The most levels that this pass may look at.
    private let mostLevels: Int
    /// Whether there are more levels, and the limit allows them. The pass ends then, and another one starts on a larger stack.
    private var isCutShort = false

    /// The most levels on the caller's stack. A level of Foundation's objects takes 900 bytes.
    private static let levelsOnOneStack = 32
    /// The path from the top to the current value. It becomes text only if something is rejected.
    var path: [Step] = []

    enum Step {
        case key(String)
        case index(Int)
    }

    /// The canonical copy of a value, or every failure found in it. A container that is fully canonical is its own copy, because
    /// nobody can change it afterwards.
    package static func canonical(_ value: Any, forKey key: String) -> Result<Any, Refusal> {
        var vetter = PropertyListVetter(topLevelKey: key, mostLevels: levelsOnOneStack)
        let result = vetter.result(for: value)
        guard vetter.isCutShort else { return result }
        return SpareStack.run {
            var vetter = PropertyListVetter(topLevelKey: key, mostLevels: PropertyListLimits.depth)
            return vetter.result(for: value)
        }
    }

    private mutating func result(for value: Any) -> Result<Any, Refusal> {
        guard let copy = copy(value, depth: 1), failures.isEmpty else { return .failure(Refusal(failures: failures)) }
        return .success(copy)
    }

    package struct Refusal: Error {
        package let failures: [PropertyListFailure]
    }

    private init(topLevelKey: String, mostLevels: Int) {
        self.topLevelKey = topLevelKey
        self.mostLevels = mostLevels
    }

    // MARK: - One value

    mutating func copy(_ value: Any, depth: Int) -> Any? {
        switch look(at: value, depth: depth) {
        case .same: value
        case .other(let copy): copy
        case .none: nil
        }
    }

    /// The stored form of a value.
    enum Copy {
        case same
        case other(Any)

        init?(_ copy: Any?) {
            guard let copy else { return nil }
            self = .other(copy)
        }
    }

    /// nil if the value is rejected.
    mutating func look(at value: Any, depth: Int) -> Copy? {
        // Each value costs something: shared references multiply, and their bytes bound the work.
        bytes += Self.leastBytes
        guard bytes <= PropertyListLimits.rootBytes else { return refuseAsTooLarge() }
        switch CanonicalForm(value) {
        case .text(let text): return look(at: text)
        case .bool: return .same
        case .number(let number): return CanonicalNumber.isPlain(number) ? .same : Copy(CanonicalNumber(number).object)
        case .date(let date): return copyDate(date.timeIntervalSinceReferenceDate) == nil ? nil : .same
        case .data(let data): return Copy(copyData(data))
        case .list(let elements): return look(at: elements, depth: depth)
        case .dictionary(let dictionary): return look(at: dictionary, depth: depth)
        case .uid: return refuse(UnsupportedValue.uid)
        case .foreign: return Copy(copyForeign(value, depth: depth))
        }
    }

    /// A value that is not in canonical form, and may have one.
    private mutating func copyForeign(_ value: Any, depth: Int) -> Any? {
        if type(of: value) is AnyClass { return copyObject(value, depth: depth) }
        if let scalar = copyForeignScalar(value) { return scalar.copy }
        var value = value
        var isWrapped = false
        // A loop, because a value may be wrapped any number of times; recursion would need a limit.
        while true {
            if let optional = value as? any OptionalValue {
                guard let wrapped = optional.wrappedValue else {
                    return refuse("nil cannot be stored in a property list")
                }
                value = wrapped
            } else if type(of: value) == AnyHashable.self, let hashable = value as? AnyHashable {
                value = hashable.base
            } else {
                break
            }
            isWrapped = true
            bytes += Self.leastBytes
            guard bytes <= PropertyListLimits.rootBytes else { return refuseAsTooLarge() }
        }
        if isWrapped { return copy(value, depth: depth) }
        switch value {
        case let array as any ArrayValue:
            return fits(array.count, bytesEach: Self.leastBytes) ? copyElements(array.elements, depth: depth) : nil
        case let dictionary as any DictionaryValue:
            return fits(dictionary.count, bytesEach: Self.leastBytes) ? copyPairs(dictionary.pairs, depth: depth) : nil
        default:
            return refuse(UnsupportedValue.reason(for: value))
        }
    }

    /// The copy of a scalar (nil inside if it is rejected), or nil if the value is not a scalar.
    private mutating func copyForeignScalar(_ value: Any) -> (copy: Any?, Void)? {
        let kind = type(of: value)
        // Exact types only: a cast would turn numbers and Booleans into one another.
        switch ObjectIdentifier(kind) {
        case Kind.int: return ((value as? Int).map { CanonicalNumber($0).object }, ())
        case Kind.double: return ((value as? Double).map { CanonicalNumber($0).object }, ())
        case Kind.float: return ((value as? Float).map { CanonicalNumber(Double($0)).object }, ())
        default:
            guard Kind.integers.contains(ObjectIdentifier(kind)), let value = value as? any FixedWidthInteger else {
                return nil
            }
            return (CanonicalNumber(value).object, ())
        }
    }

    private mutating func look(at text: String) -> Copy? {
        guard let copy = copyText(text) else { return nil }
        return CanonicalValue.haveEqualWords(text, copy) ? .same : .other(copy)
    }

    mutating func copyText(_ text: String) -> String? {
        var copy = text
        copy.makeContiguousUTF8()
        bytes += CanonicalValue.encodedBytes(of: copy)
        return bytes <= PropertyListLimits.rootBytes ? copy : refuseAsTooLarge()
    }

    mutating func copyData(_ data: Data) -> Data? {
        bytes += data.count
        guard bytes <= PropertyListLimits.rootBytes else { return refuseAsTooLarge() }
        // Other code may own the bytes (NSMutableData, bytesNoCopy), so the copy has its own.
        return data.withUnsafeBytes { Data($0) }
    }

    mutating func copyDate(_ interval: TimeInterval) -> Date? {
        guard interval.isFinite else { return refuse("a date must be finite") }
        guard abs(interval) <= PropertyListLimits.dateInterval else {
            return refuse("a date this far away cannot be stored in a property list")
        }
        return Date(timeIntervalSinceReferenceDate: interval)
    }

    // MARK: - Refusals

    /// The least cost of a value.
    static let leastBytes = 9

    /// Whether the budget has room for that many parts. Notes a refusal if not. Called before the parts are copied.
    mutating func fits(_ count: Int, bytesEach: Int) -> Bool {
        if count <= (PropertyListLimits.rootBytes - bytes) / bytesEach { return true }
        let _: Any? = refuseAsTooLarge()
        return false
    }

    /// Past the budget nothing is examined: shared references multiply, and a cycle is endless.
    var isExhausted: Bool {
        bytes > PropertyListLimits.rootBytes || failures.count >= Self.mostFailures || isCutShort
    }

    mutating func isWithinLimit(_ depth: Int) -> Bool {
        if depth <= mostLevels { return true }
        if depth <= PropertyListLimits.depth {
            isCutShort = true
            return false
        }
        let _: Any? = refuse("nested deeper than \(PropertyListLimits.depth) levels")
        return false
    }

    /// Failures reported for one key; a list of a million closures needs no million lines.
    private static let mostFailures = 100

    mutating func refuse<T>(_ reason: String) -> T? {
        let place = path.reduce(topLevelKey) {
            switch $1 {
            case .key(let key): "\($0).\(key)"
            case .index(let index): "\($0)[\(index)]"
            }
        }
        failures.append(PropertyListFailure(path: place, topLevelKey: topLevelKey, reason: reason))
        return nil
    }

    mutating func refuseAsTooLarge<T>() -> T? {
        guard failures.last?.reason != Self.tooLarge else { return nil }
        return refuse(Self.tooLarge)
    }

    private static let tooLarge =
        "larger than \(PropertyListLimits.rootBytes >> 20) MiB"
}

private enum Kind {
    static let int = ObjectIdentifier(Int.self)
    static let double = ObjectIdentifier(Double.self)
    static let float = ObjectIdentifier(Float.self)
    static let integers: Set<ObjectIdentifier> = [
        ObjectIdentifier(Int8.self), ObjectIdentifier(Int16.self), ObjectIdentifier(Int32.self),
        ObjectIdentifier(Int64.self), ObjectIdentifier(UInt.self), ObjectIdentifier(UInt8.self),
        ObjectIdentifier(UInt16.self), ObjectIdentifier(UInt32.self), ObjectIdentifier(UInt64.self),
    ]
}
