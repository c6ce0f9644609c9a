import Foundation
import PersistentPreferences

/// What one thread of a stress writes: a counter that all threads have in common, a counter of its own, and a value of its
/// own.
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

    /// What was stored of the thread's own.
    struct StoredWrite {
        let key: String
        let number: Int
    }

    /// Makes one of the thread's writes, which are numbered from 0: every other is an increment, those between store their
    /// number.
    ///
    /// - Throws: `PrefsError`, and where the counter of its own is not what this thread has left there.
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
            throw UnexpectedCount(description: "\(counterKey) was \(own - 1) after \(last) was stored")
        }
        return StoredWrite(key: counterKey, number: own)
    }

    /// What is wrong with what is read now; nobody else writes that key.
    func mismatch(in stored: StoredWrite) -> String? {
        let read = self[stored.key] as? Int
        if let lastError { return "\(lastError)" }
        guard read != stored.number else { return nil }
        return "\(stored.key) reads \(read.map(String.init) ?? "nothing") after \(stored.number) was stored"
    }

    /// The increments among so many writes.
    static func increments(among writes: Int) -> Int { (writes + 1) / 2 }

    /// The value after so many writes; nil where none of them was of the value.
    static func value(after writes: Int) -> Int? { writes < 2 ? nil : writes / 2 * 2 - 1 }
}

/// Somebody has changed what only one thread writes.
private struct UnexpectedCount: Error, CustomStringConvertible {
    let description: String
}
