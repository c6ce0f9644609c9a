import Foundation
import PersistentPreferences

/// The preferences that one thread of a stress writes: a counter that all threads share, and its own counter and value.
///
/// `@unchecked Sendable` because its superclass is. Used by one thread.
final class StressPrefs: PersistentPrefs, @unchecked Sendable {
    static let root = "Stress"
    static let sharedKey = "shared"

    private let own: (counter: String, value: String)
    /// The value of the thread's own counter after its last increment; nil before the first.
    private var lastCount: Int?

    init(process: Int, thread: Int, file: URL) {
        own = Self.ownKeys(process, thread)
        super.init(key: Self.root, values: nil, store: .propertyList(url: file))
    }

    override var allowedKeys: [String] { [Self.sharedKey, own.counter, own.value] }

    /// The keys that only one thread writes.
    static func ownKeys(_ process: Int, _ thread: Int) -> (counter: String, value: String) {
        ("counter \(process).\(thread)", "value \(process).\(thread)")
    }

    /// Makes one of the thread's writes, and reads it again. Writes with an even number increment the counters, the
    /// others store their number.
    ///
    /// - Parameter acknowledge: called when the write has returned.
    /// - Throws: `PrefsError`, or `UnexpectedNumber` if one of the thread's own keys is not as this thread stored it.
    func write(_ number: Int, acknowledge: () -> Void) throws {
        let key = number.isMultiple(of: 2) ? own.counter : own.value
        var expected = number
        if key == own.counter {
            try update { values in
                let count = values[key] as? Int ?? 0
                // Differs from what is stored if an earlier increment of this thread was lost. The read below reports
                // it.
                expected = (lastCount ?? count) + 1
                values[key] = count + 1
                values[Self.sharedKey] = (values[Self.sharedKey] as? Int ?? 0) + 1
            }.get()
            lastCount = expected
        } else {
            self[key] = number
            if let lastError { throw lastError }
        }
        acknowledge()
        let found = self[key] as? Int
        if let lastError { throw lastError }
        if found != expected { throw UnexpectedNumber(key: key, expected: expected, found: found) }
    }

    /// A key that only one thread writes has a value that this thread did not store.
    private struct UnexpectedNumber: Error, CustomStringConvertible {
        let key: String
        let expected: Int
        let found: Int?

        var description: String { "expected \(expected) in \(key), found \(found.map(String.init) ?? "nothing")" }
    }
}
