import PrefsFileEngine
import PrefsPropertyLists

/// A subscriber that moves with its instance to another root.
protocol MovingSubscriber: AnyObject, Sendable {
    func moveWithInstance()
}

/// Those that were told of faults.
protocol FaultListener: AnyObject, Sendable {
    /// Forgets faults that a read has just not met.
    ///
    /// - Parameter key: nil for faults of the store.
    func forget(_ key: String?)
}

/// What an instance keeps of its observers: what was reported, and who is told of changes.
///
/// Unchecked because the lock of the instance guards the variables.
package class InstanceObservers: RootInstance, @unchecked Sendable {
    private struct Subscribers {
        var all: [Weak] = []
        var countToTidy = 16
    }

    private struct Weak {
        weak var subscriber: (any MovingSubscriber)?
    }

    private var log = FaultLog()
    /// Whether a read that meets no fault has to be reported. A copy, because each read asks for it. Asked with the lock.
    private(set) var recordsSuccess = false
    private var listener: (any FaultListener)?
    private var subscribers = Subscribers()

    // MARK: - What was reported

    var lastError: PrefsError? {
        get { lock.withLock { log.lastError } }
        set { changeLog { $0.lastError = newValue } }
    }

    private func changeLog<R>(_ change: (inout FaultLog) -> R) -> R {
        lock.withLock {
            defer { recordsSuccess = log.recordsSuccess }
            return change(&log)
        }
    }

    /// Records what an access has met.
    func record(_ error: PrefsError?, of access: FaultLog.Access) -> FaultLog.News {
        changeLog { log in
            let news = log.record(error, of: access)
            if news.endsFaults { listener?.forget(nil) }
            return news
        }
    }

    /// Notes that the value of a key fits, if its state has no revision.
    func endFault(ofValue key: String, at revision: Revision?) {
        if revision != nil { return }
        changeLog { log in
            if log.mayEnd { log.endValue(key) }
            // A closure of `onError` may know of a fault that no access has met.
            listener?.forget(key)
        }
    }

    func listenToFaults(_ new: any FaultListener) {
        lock.withLock { listener = new }
    }

    // MARK: - Who observes

    /// Registers a subscriber, which is notified when the instance moves to another root.
    func register(_ subscriber: any MovingSubscriber) {
        lock.withLock {
            // Not at each call, because there may be thousands.
            if subscribers.all.count >= subscribers.countToTidy {
                subscribers.all.removeAll { $0.subscriber == nil }
                subscribers.countToTidy = max(16, 2 * subscribers.all.count)
            }
            subscribers.all.append(Weak(subscriber: subscriber))
        }
    }

    /// Moves the subscribers to the current root of the instance.
    func moveSubscribers() {
        for entry in lock.withLock({ subscribers.all }) { entry.subscriber?.moveWithInstance() }
    }
}
