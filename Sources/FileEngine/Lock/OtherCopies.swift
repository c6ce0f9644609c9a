import Foundation
import PrefsPropertyLists

/// Other copies of this package in this process, such as the copy of a plugin beside that of its program.
///
/// An update of one copy whose body writes the same file through the other one would wait for ever for a lock of its own
/// thread. The copies share neither types nor variables, but Foundation: a notification without a queue calls the
/// observers of all copies on the thread that posts it.
enum OtherCopies {
    private static let question = Notification.Name("PersistentPreferences.isLockedByThisThread")

    /// Answers the questions of other copies from now on. Called once.
    ///
    /// - Parameter isLocked: whether this thread holds the lock, by the path of the lock file.
    static func answerQuestions(isLocked: @escaping @Sendable (String) -> Bool) {
        _ = NotificationCenter.default.addObserver(forName: question, object: nil, queue: nil) { notification in
            guard let path = notification.userInfo?["path"] as? String, isLocked(path) else { return }
            (notification.userInfo?["answers"] as? NSMutableArray)?.add(path)
        }
    }

    /// Rejects the wait for a lock that another copy holds for an update of this thread. Called if the lock is not free.
    ///
    /// - Parameter path: the path of the lock file.
    static func refuseWait(for path: String) throws(StorageFailure) {
        // In a forked child, the lock of the notification center may be held for ever.
        guard !ProcessMark.isInForkedChild else { return }
        let answers = NSMutableArray()
        NotificationCenter.default.post(name: question, object: nil, userInfo: ["path": path, "answers": answers])
        guard answers.count > 0 else { return }
        throw StorageFailure(
            path: path,
            reason: "held by an update on this thread in another copy of this package; link the package once,"
                + " in one dynamic library that exports it",
            code: EDEADLK)
    }
}
