import Foundation
import PersistentPreferences

/// The preferences that one thread of a stress writes: a counter that all threads share, a counter of its own and a value of its own.
///
/// `@unchecked Sendable` because its superclass is.
final class StressPrefs: PersistentPrefs, @unchecked Sendable {
    static let root = "Stress"
    static let sharedKey = "shared"

    let counterKey: String
    let valueKey: String
    /// The value of the thread's own counter after its last increment; nil before the first.
    private let lastCount = Locked<Int?>(nil)

    init(process: Int, thread: Int, file: String) {
        counterKey = "counter \(process).\(thread)"
        valueKey = "value \(process).\(thread)"
        super.init(
            key: Self.root, values: nil,
            store: PropertyListFileStore(url: URL(filePath: file, directoryHint: .notDirectory)))
    }

    override var keys: [String] { [Self.sharedKey, counterKey, valueKey] }

    /// A write to one of the thread's own keys.
    struct StoredWrite {
        let key: String
        let number: Int
    }

    /// Makes one of the thread's writes. Writes with an even number increment the counters, the others store their number.
    ///
    /// - Throws: `PrefsError`, or an error if the thread's own counter is not as this thread stored it.
    func write(_ number: Int) throws -> StoredWrite {
        guard number.isMultiple(of: 2) else {
            self[valueKey] = number
            if let lastError { throw lastError }
            return StoredWrite(key: valueKey, number: number)
        }
        var own = 0
        let error = update { values in
            own = (values[counterKey] as? Int ?? 0) + 1
            values[counterKey] = own
            values[Self.sharedKey] = (values[Self.sharedKey] as? Int ?? 0) + 1
        }
        if let error { throw error }
        let last = lastCount.withLock { last in
            defer { last = own }
            return last
        }
        if let last, own != last + 1 {
            throw UnexpectedCount(description: "expected \(last) in \(counterKey), found \(own - 1)")
        }
        return StoredWrite(key: counterKey, number: own)
    }

    /// Reads the key of a write again. Returns a message if it does not have the stored value, which only this thread changes.
    func mismatch(in stored: StoredWrite) -> String? {
        let read = self[stored.key] as? Int
        if let lastError { return "\(lastError)" }
        guard read != stored.number else { return nil }
        return "expected \(stored.number) in \(stored.key), found \(read.map(String.init) ?? "nothing")"
    }

    /// The number of increments among the first writes of a thread.
    static func increments(among writes: Int) -> Int { (writes + 1) / 2 }

    /// The value after the first writes of a thread; nil if none of them stored it.
    static func value(after writes: Int) -> Int? { writes < 2 ? nil : writes / 2 * 2 - 1 }
}

/// A counter that only one thread writes has an unexpected value.
private struct UnexpectedCount: Error, CustomStringConvertible {
    let description: String
}
