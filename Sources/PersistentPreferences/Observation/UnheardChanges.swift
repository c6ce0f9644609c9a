import Dispatch
import Foundation

/// Changes that other threads have announced while a tracking on the main thread may not listen yet.
///
/// `withObservationTracking` listens only after its closure has returned. A change that another thread announces
/// between a read in the closure and the return is missed. So the next block of the main queue announces it again: a
/// closure that runs on the main thread has returned by then.
struct UnheardChanges {
    private var isCollecting = false
    private var keys: Set<String> = []

    private static let mainQueue = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether this is the main thread, or a thread that runs the main queue after `dispatchMain` on Linux.
    static var isOnMainThread: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueue) == true
    }

    /// Called at a tracked read on the main thread, before the value is read.
    ///
    /// - Returns: whether the caller must make the main queue call `take`.
    mutating func begin() -> Bool {
        defer { isCollecting = true }
        return !isCollecting
    }

    /// Called on another thread than the main one, before it announces a change.
    mutating func add(_ changed: [String]) {
        if isCollecting { keys.formUnion(changed) }
    }

    /// The keys to announce again, sorted.
    mutating func take() -> [String] {
        defer { self = UnheardChanges() }
        return keys.sorted()
    }
}
