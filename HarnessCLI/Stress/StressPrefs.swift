import Foundation
import PersistentPreferences

/// What one thread of a stress writes: a counter that all threads have in common, a counter of its own, and a value of its
/// own.
final class StressPrefs: PersistentPrefs, @unchecked Sendable {
    static let root = "Stress"
    static let sharedKey = "shared"

    let counterKey: String
    let valueKey: String

    init(process: Int, thread: Int, file: String) {
        counterKey = "counter \(process).\(thread)"
        valueKey = "value \(process).\(thread)"
        super.init(
            key: Self.root, values: nil,
            store: PropertyListFileStore(url: URL(filePath: file, directoryHint: .notDirectory)))
    }

    override var keys: [String] { [Self.sharedKey, counterKey, valueKey] }

    /// Makes one of the thread's writes, which are numbered from 0: every other is an increment, those between store their
    /// number.
    func write(_ number: Int) -> PrefsError? {
        if Self.isIncrement(number) {
            return update { values in
                for key in [Self.sharedKey, counterKey] { values[key] = (values[key] as? Int ?? 0) + 1 }
            }
        }
        self[valueKey] = number
        return lastError
    }

    static func isIncrement(_ number: Int) -> Bool { number.isMultiple(of: 2) }

    /// The increments among so many writes.
    static func increments(among writes: Int) -> Int { (writes + 1) / 2 }

    /// The value after so many writes; nil where none of them was of the value.
    static func value(after writes: Int) -> Int? { writes < 2 ? nil : writes / 2 * 2 - 1 }
}
