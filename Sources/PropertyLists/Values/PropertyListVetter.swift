import Foundation

/// Checks whether a property list can hold an object, and copies it into a `StoredValue`. If not, returns the path and
/// the reason of each failure, up to a limit. Every object of a user passes through it.
///
/// Foundation's own check (`propertyList(_:isValidFor:)`) also accepts objects that a property list cannot hold.
package struct PropertyListVetter {
    /// Why parts of the value are rejected.
    private var refusals: [(path: String, reason: String)] = []
    private let limits: Limits
    private var bytes = 0
    /// The path from the top to the current value. It becomes text only if something is rejected.
    var path: [Step] = []

    enum Step {
        case key(String)
        case index(Int)
    }

    private struct Limits {
        let bytes: Int
        let depth: Int
        /// Whether to reject values that XML would change: far dates, and references of keyed archives.
        let areOfWrites: Bool
        /// Whether the object is an entry whose members are vetted separately.
        var isOfEntry = false

        static let ofWrites = Limits(
            bytes: PropertyListLimits.rootBytes, depth: PropertyListLimits.depth, areOfWrites: true)
        /// The limits of one value that other code has stored.
        static let ofReads = Limits(
            bytes: PropertyListLimits.fileBytes / 4, depth: PropertyListLimits.fileDepth, areOfWrites: false)
        static let ofEntry = Limits(
            bytes: ofReads.bytes, depth: ofReads.depth, areOfWrites: false, isOfEntry: true)
    }

    /// The value of an object of any type.
    package static func value(of object: Any) throws(ValueMismatch) -> StoredValue {
        try run { $0.value(of: object, depth: 1) }
    }

    /// The value of an entry that other code has stored. It may be larger and deeper than the entries of this package.
    /// An entry or a member that cannot be expressed becomes ``StoredValue/foreign(_:)``.
    package static func value(ofStored object: Any) -> StoredValue { stored(object, .ofEntry) }

    private static func stored(_ object: Any, _ limits: Limits) -> StoredValue {
        do {
            return try run(limits) { $0.value(of: object, depth: 1) }
        } catch {
            return .foreign(ForeignObject(object))
        }
    }

    /// Checks a value that the coder or a reader has made.
    package static func check(_ value: StoredValue) throws(ValueMismatch) {
        _ = try run { $0.accepts(value, depth: 1) ? value : nil }
    }

    /// - Parameter look: returns nil if something is rejected.
    private static func run(
        _ limits: Limits = .ofWrites, _ look: (inout PropertyListVetter) -> StoredValue?
    ) throws(ValueMismatch) -> StoredValue {
        var vetter = PropertyListVetter(limits: limits)
        guard let value = look(&vetter), vetter.refusals.isEmpty else { throw ValueMismatch(refused: vetter.refusals) }
        return value
    }

    private init(limits: Limits) {
        self.limits = limits
    }

    // MARK: - Values

    /// Whether a value and its contents are within the limits.
    private mutating func accepts(_ value: StoredValue, depth: Int) -> Bool {
        guard charge(Self.leastBytes) else { return false }
        switch value {
        case .bool, .integer, .unsigned, .real, .decimal, .null: return true
        case .string(let text): return charge(text.encodedBytes)
        case .data(let data): return charge(data.count)
        case .date(let date): return self.date(date.timeIntervalSinceReferenceDate) != nil
        case .array(let elements): return accepts(elements, depth: depth)
        case .dictionary(let members): return accepts(members, depth: depth)
        case .uid: return refuse(UnsupportedValue.uid) ?? false
        case .foreign(let foreign): return refuse(UnsupportedValue.reason(for: foreign.object)) ?? false
        }
    }

    private mutating func accepts(_ elements: [StoredValue], depth: Int) -> Bool {
        guard isWithinLimit(depth) else { return false }
        for index in elements.indices {
            // A number needs no path.
            if elements[index].isNumber, bytes + Self.leastBytes <= limits.bytes {
                bytes += Self.leastBytes
                continue
            }
            path.append(.index(index))
            defer { path.removeLast() }
            if !accepts(elements[index], depth: depth + 1), isExhausted { return false }
        }
        return true
    }

    private mutating func accepts(_ members: [String: StoredValue], depth: Int) -> Bool {
        guard isWithinLimit(depth) else { return false }
        for (key, value) in members {
            guard StreamSafeText.isSafe(key) else { return refuse(StreamSafeText.reason) ?? false }
            path.append(.key(key))
            defer { path.removeLast() }
            guard charge(key.encodedBytes) else { return false }
            if !accepts(value, depth: depth + 1), isExhausted { return false }
        }
        return isNoReference(members)
    }

    /// Rejects a dictionary that XML would read as a reference of a keyed archive, also with a real number.
    mutating func isNoReference(_ members: [String: StoredValue]) -> Bool {
        guard limits.areOfWrites, members.count == 1, members[KeyedArchiveUID.key]?.isNumber == true else {
            return true
        }
        return refuse("a dictionary of a lone number CF$UID cannot be stored in a property list") ?? false
    }

    // MARK: - Objects

    private static let integers: [ObjectIdentifier] = [
        ObjectIdentifier(Int8.self), ObjectIdentifier(Int16.self), ObjectIdentifier(Int32.self),
        ObjectIdentifier(Int64.self), ObjectIdentifier(UInt.self), ObjectIdentifier(UInt8.self),
        ObjectIdentifier(UInt16.self), ObjectIdentifier(UInt32.self), ObjectIdentifier(UInt64.self),
    ]

    /// The value of an object; nil if it is rejected.
    mutating func value(of object: Any, depth: Int) -> StoredValue? {
        // Charges each value, because shared references multiply, and the bytes bound the work.
        guard charge(Self.leastBytes) else { return nil }
        let kind = type(of: object)
        if kind is AnyClass { return valueOfInstance(object, depth: depth) }
        // Compares exact types, because a cast would convert numbers and Booleans into one another.
        switch ObjectIdentifier(kind) {
        case ObjectIdentifier(String.self): return (object as? String).flatMap { text($0) }.map(StoredValue.string)
        case ObjectIdentifier(Bool.self): return (object as? Bool).map(StoredValue.bool)
        case ObjectIdentifier(Int.self): return (object as? Int).map { StoredValue($0) }
        case ObjectIdentifier(Double.self): return (object as? Double).map { StoredValue($0) }
        case ObjectIdentifier(Float.self): return (object as? Float).map { StoredValue(Double($0)) }
        case ObjectIdentifier(Date.self): return (object as? Date).flatMap { date($0.timeIntervalSinceReferenceDate) }
        case ObjectIdentifier(Data.self): return (object as? Data).flatMap { data($0) }
        case ObjectIdentifier([Any].self): return (object as? [Any]).flatMap { list($0, depth: depth) }
        case ObjectIdentifier([String: Any].self):
            return (object as? [String: Any]).flatMap { dictionary($0, depth: depth) }
        case ObjectIdentifier(KeyedArchiveUID.self) where !limits.areOfWrites:
            return (object as? KeyedArchiveUID).map(StoredValue.uid)
        case ObjectIdentifier(KeyedArchiveUID.self): return refuse(UnsupportedValue.uid)
        case let kind where Self.integers.contains(kind):
            return (object as? any FixedWidthInteger).map { StoredValue($0) }
        default: return valueOfOther(object, depth: depth)
        }
    }

    /// A container, an optional or an AnyHashable; or an object that is rejected.
    private mutating func valueOfOther(_ object: Any, depth: Int) -> StoredValue? {
        var object = object
        var isWrapped = false
        // Uses a loop, because a value may be wrapped any number of times and recursion would need a limit.
        while true {
            if let optional = object as? any OptionalValue {
                guard let wrapped = optional.wrappedValue else {
                    return refuse("nil cannot be stored in a property list")
                }
                object = wrapped
            } else if type(of: object) == AnyHashable.self, let hashable = object as? AnyHashable {
                object = hashable.base
            } else {
                break
            }
            isWrapped = true
            guard charge(Self.leastBytes) else { return nil }
        }
        if isWrapped { return value(of: object, depth: depth) }
        switch object {
        case let array as any ArrayValue: return list(array, depth: depth)
        case let dictionary as any DictionaryValue: return self.dictionary(dictionary, depth: depth)
        default: return refuse(UnsupportedValue.reason(for: object))
        }
    }

    private mutating func list(_ array: some ArrayValue, depth: Int) -> StoredValue? {
        fits(array.count, bytesEach: Self.leastBytes) ? values(of: array.elements, depth: depth) : nil
    }

    private mutating func dictionary(_ dictionary: some DictionaryValue, depth: Int) -> StoredValue? {
        fits(dictionary.count, bytesEach: Self.leastBytes) ? members(of: dictionary.pairs, depth: depth) : nil
    }

    mutating func text(_ text: String) -> String? {
        var copy = text
        copy.makeContiguousUTF8()
        return charge(copy.encodedBytes) ? copy : nil
    }

    mutating func data(_ data: Data) -> StoredValue? {
        charge(data.count) ? .data(data.ownCopy) : nil
    }

    mutating func date(_ interval: TimeInterval) -> StoredValue? {
        guard interval.isFinite else { return refuse("a date must be finite") }
        guard !limits.areOfWrites || abs(interval) <= PropertyListLimits.dateInterval else {
            return refuse("a date this far away cannot be stored in a property list")
        }
        return .date(Date(timeIntervalSinceReferenceDate: interval))
    }

    // MARK: - Limits

    /// The least cost of a value.
    static let leastBytes = 9

    /// Takes bytes from the budget. Records a failure if the budget is too small.
    private mutating func charge(_ count: Int) -> Bool {
        bytes += count
        return bytes <= limits.bytes || refuseAsTooLarge()
    }

    /// Whether the budget has room for a number of parts. Records a failure if not. Called before the parts are copied.
    mutating func fits(_ count: Int, bytesEach: Int) -> Bool {
        count <= (limits.bytes - bytes) / bytesEach || refuseAsTooLarge()
    }

    /// Whether the budget is used up. Nothing more is examined then, because shared references multiply and a cycle is
    /// endless.
    var isExhausted: Bool {
        bytes > limits.bytes || refusals.count >= Self.mostFailures
    }

    @inline(never) mutating func isWithinLimit(_ depth: Int) -> Bool {
        depth <= limits.depth || refuse("nested deeper than \(limits.depth) levels") ?? false
    }

    /// The most failures that are reported for one key. A list of a million closures would give a million lines.
    private static let mostFailures = 100

    mutating func refuse<T>(_ reason: String) -> T? {
        let place = path.reduce("") {
            switch $1 {
            case .key(let key): "\($0).\(key)"
            case .index(let index): "\($0)[\(index)]"
            }
        }
        refusals.append((place, reason))
        return nil
    }

    private mutating func refuseAsTooLarge() -> Bool {
        let reason = "larger than \(limits.bytes >> 20) MiB"
        return refusals.last?.reason == reason ? false : refuse(reason) ?? false
    }
}

extension Data {
    /// Other code may own the bytes (NSMutableData, bytesNoCopy), so the copy has its own.
    var ownCopy: Data { withUnsafeBytes { Data($0) } }
}

// MARK: - Lists and dictionaries

/// Vets lists and dictionaries of Swift and of Objective-C.
extension PropertyListVetter {
    mutating func values(of objects: some Sequence<Any>, depth: Int) -> StoredValue? {
        guard isWithinLimit(depth) else { return nil }
        var values: [StoredValue] = []
        values.reserveCapacity(objects.underestimatedCount)
        for (index, object) in objects.enumerated() {
            path.append(.index(index))
            if let value = value(of: object, depth: depth + 1) { values.append(value) }
            path.removeLast()
            if isExhausted { return nil }
        }
        return .array(values)
    }

    mutating func members(of pairs: some Sequence<(Any, Any)>, depth: Int) -> StoredValue? {
        guard isWithinLimit(depth) else { return nil }
        var members: [String: StoredValue] = [:]
        members.reserveCapacity(pairs.underestimatedCount)
        for (key, object) in pairs {
            guard add(object, forKey: key, to: &members, depth: depth) else { return nil }
        }
        return isNoReference(members) ? .dictionary(members) : nil
    }

    /// Returns false if the rest of the dictionary is not examined.
    private mutating func add(
        _ object: Any, forKey key: Any, to members: inout [String: StoredValue], depth: Int
    ) -> Bool {
        let key = type(of: key) == AnyHashable.self ? (key as? AnyHashable)?.base ?? key : key
        var name: String?
        if type(of: key) is AnyClass, let text = key as? NSString {
            name = self.text(text)
            if name == nil { return false }
        }
        guard let text = name ?? key as? String else {
            let kind = type(of: key)
            return refuse("a key of type \(kind) cannot be stored in a property list; keys are strings") ?? false
        }
        guard StreamSafeText.isSafe(text) else { return refuse(StreamSafeText.reason) ?? false }
        path.append(.key(text))
        defer { path.removeLast() }
        guard let name = name ?? self.text(text) else { return false }
        if members.index(forKey: name) != nil {
            return refuse("two keys differ only in their Unicode spelling") ?? false
        }
        // A member of an entry may be one that cannot be expressed.
        let isOfEntry = limits.isOfEntry && depth == 1
        members[name] = isOfEntry ? Self.stored(object, .ofReads) : value(of: object, depth: depth + 1)
        return !isExhausted
    }
}

// MARK: - Objects of Foundation's classes

/// Vets objects of Foundation's classes and of their subclasses.
///
/// A subclass may report any size. The size is compared with the rest of the budget before anything is allocated, read
/// or converted. An overridden method that traps still stops the program. So do missing bytes if the reported length is
/// below the limit.
extension PropertyListVetter {
    mutating func valueOfInstance(_ object: Any, depth: Int) -> StoredValue? {
        switch object {
        case is NSDecimalNumber: refuse(UnsupportedValue.decimal)
        case let number as NSNumber: StoredValue(number)
        case let text as NSString: self.text(text).map(StoredValue.string)
        case let data as NSData: bytes(of: data)
        case let date as NSDate: self.date(date.timeIntervalSinceReferenceDate)
        case let array as NSArray: values(of: array, depth: depth)
        case let dictionary as NSDictionary: members(of: dictionary, depth: depth)
        default: refuse(UnsupportedValue.reason(for: object))
        }
    }

    mutating func text(_ text: NSString) -> String? {
        let length = text.length
        guard isPlausible(length, "an NSString that reports a length") else { return nil }
        // Reads unit by unit, because on Linux Foundation reads a subclass with its own storage as an empty string.
        let units = (0..<length).map(text.character(at:))
        let copy = String(decoding: units, as: UTF16.self)
        // An unpaired surrogate has no UTF-8; the conversion replaces it by U+FFFD.
        guard copy.utf16.elementsEqual(units) else {
            return refuse("a string with an unpaired surrogate cannot be stored in a property list")
        }
        return self.text(copy)
    }

    private mutating func bytes(of data: NSData) -> StoredValue? {
        let length = data.length
        guard isPlausible(length, "an NSData that reports a length") else { return nil }
        return self.data(Data(bytes: data.bytes, count: length))
    }

    private mutating func values(of array: NSArray, depth: Int) -> StoredValue? {
        let count = array.count
        guard isPlausible(count, "an NSArray that reports a count", bytesEach: Self.leastBytes) else { return nil }
        if let references = array.references { return values(of: references, depth: depth) }
        // Requests the elements one by one, so that each is charged before the next is requested.
        let elements = (0..<count).lazy.map { array.object(at: $0) }
        return values(of: IteratorSequence(elements.makeIterator()), depth: depth)
    }

    private mutating func members(of dictionary: NSDictionary, depth: Int) -> StoredValue? {
        let count = dictionary.count
        guard isPlausible(count, "an NSDictionary that reports a count", bytesEach: Self.leastBytes) else { return nil }
        if let references = dictionary.references { return members(of: references, depth: depth) }
        let keys = dictionary.keyEnumerator()
        let pairs = AnyIterator { keys.nextObject().map { ($0, dictionary.object(forKey: $0) ?? Any?.none as Any) } }
        return members(of: pairs, depth: depth)
    }

    /// Notes the reason and returns false if a reported size cannot be true, or is more than the budget allows.
    private mutating func isPlausible(_ size: Int, _ report: String, bytesEach: Int = 1) -> Bool {
        if size >= 0 { return fits(size, bytesEach: bytesEach) }
        return refuse("\(report) of \(size) cannot be stored in a property list") ?? false
    }
}
