/// Values by numbers, such as the address of a type.
///
/// A dictionary whose keys are not strings costs a program 220,000 instructions or more, because its first use searches all
/// conformances for the one of the keys.
@frozen @usableFromInline
package struct NumberTable<Value> {
    /// In ascending order of the numbers.
    @usableFromInline var entries: [(number: Int, value: Value)] = []

    @inlinable package init() {}

    @inlinable package subscript(number: Int) -> Value? {
        let place = place(of: number)
        return place < entries.count && entries[place].number == number ? entries[place].value : nil
    }

    /// Adds a value, unless the number has one.
    ///
    /// - Returns: the value that the number has.
    @inlinable package mutating func add(_ value: Value, at number: Int) -> Value? {
        if let known = self[number] { return known }
        entries.insert((number, value), at: place(of: number))
        return nil
    }

    /// The place of a number, or the one that it would get.
    @inlinable func place(of number: Int) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension NumberTable: Sendable where Value: Sendable {}
