import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit
import TestSupport
import Testing

/// An update that has begun on a thread of its own, and ends when it is told to. Then it changes the root; by default, it adds one to
/// the count.
final class Holder: Sendable {
    private let (begun, end, ended) = (Signal(), Signal(), Signal())
    private let failure = Locked<PrefsError?>(nil)

    init(
        _ store: EtcdStore, _ root: String = "A",
        change: @escaping @Sendable (inout [String: Any]?) -> Void = {
            $0 = ["count": ($0?["count"] as? Int ?? 0) + 1]
        }
    ) {
        Thread.detachNewThread { [self] in
            let failure = error {
                try store.update(root: root) { values in
                    begun.signal()
                    end.wait()
                    change(&values)
                }
            }
            self.failure.withLock { $0 = failure }
            ended.signal()
        }
        begun.wait()
    }

    /// Tells it to end, and does not wait for it.
    func letEnd() { end.signal() }

    /// - Returns: the error of the update.
    @discardableResult func finish() -> PrefsError? {
        letEnd()
        ended.wait()
        return failure.withLock { $0 }
    }
}
