import Foundation

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
        let pairs = AnyIterator { keys.nextObject().map { ($0, dictionary.object(forKey: $0) as Any) } }
        return members(of: pairs, depth: depth)
    }

    /// Notes the reason and returns false if a reported size cannot be true, or is more than the budget allows.
    private mutating func isPlausible(_ size: Int, _ report: String, bytesEach: Int = 1) -> Bool {
        if size >= 0 { return fits(size, bytesEach: bytesEach) }
        return refuse("\(report) of \(size) cannot be stored in a property list") ?? false
    }
}
