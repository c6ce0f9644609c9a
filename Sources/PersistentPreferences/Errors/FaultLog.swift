import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// What the accesses of one instance have reported. Decides what is news.
///
/// | access | `lastError` | the handlers: `prefsDidFail`, and the closures of `onError` |
/// |---|---|---|
/// | a write fails, or leaves a warning | the error | are told; of a warning of layers, a closure once |
/// | a read meets a fault | the error | are told, unless they were told of it before |
/// | a write meets a fault besides its outcome | stays | are told; a closure once |
/// | a read meets a fault besides its outcome, or an observer meets one | stays | as for a read |
/// | success | nil, if it was an error | are not told; a read ends what it would have met |
///
/// A fault that ends and returns is reported again. A fault of a value or of a root belongs to a state, whose revision
/// shows whether it is the same fault. Without revisions, and for a store that cannot be read, a fault lasts until a read
/// succeeds.
struct FaultLog {
    /// What has met an outcome: a read or a fault with the key that was read, nil for the whole root, and the revision of
    /// the state, nil if it has none.
    enum Access {
        case write
        case read(of: String? = nil, at: Revision? = nil)
        // Not the outcome of the access.
        case faultOfWrite
        case fault(of: String? = nil, at: Revision? = nil)
    }

    /// What has to be reported.
    struct News {
        /// Whether `lastError` is assigned.
        var isOutcome = false
        /// The error for the handlers; nil if they are not called.
        var told: PrefsError?
        /// Whether a closure that was told of its problems is not called.
        var isOnce = false
        /// Whether the access has met none of the faults that were told of the store and the root.
        var endsFaults = false
    }

    private typealias Report = (error: PrefsError, revision: Revision?)

    /// The outcome of the latest access, or what was assigned since then.
    var lastError: PrefsError?
    /// Whether the latest access has failed, even if `lastError` was assigned since then.
    private var hasFailed = false
    /// The faults of values, by the key; nil for a fault of the whole root.
    private var values: [String?: Report] = [:]
    private var store: PrefsError?
    /// By fault, the key that was read then; nil for the whole root.
    private var layers: [PrefsProblem: String?] = [:]

    /// Whether a read without a fault may end one.
    private(set) var mayEnd = false

    /// Whether a read that meets no fault has to be recorded.
    var recordsSuccess: Bool { lastError != nil || hasFailed || mayEnd }

    /// Records what an access has met.
    ///
    /// - Parameter error: its outcome, or a fault that it has met besides; nil if there is none.
    mutating func record(_ error: PrefsError?, of access: Access) -> News {
        var news = News(told: error)
        switch access {
        case .write: news.isOnce = error?.isOfLayers == true
        case .faultOfWrite:
            news.isOnce = true
            return news
        case .read(let key, let revision), .fault(let key, let revision):
            news.told = error.flatMap { unreported($0, of: key, at: revision) }
            news.isOnce = news.told?.isFault == true
            // Without a revision, also if none was reported: a closure of `onError` may know of one that no access has met.
            news.endsFaults = error == nil && (mayEnd || revision == nil)
            if error == nil, mayEnd { end(readOf: key) }
            if case .fault = access { return news }
        }
        news.isOutcome = error != nil || lastError != nil || hasFailed
        hasFailed = error != nil
        return news
    }

    /// The error, reduced to what was not reported before; nil if all of it was.
    private mutating func unreported(_ error: PrefsError, of name: String?, at revision: Revision?) -> PrefsError? {
        switch error {
        case .typeMismatch, .constraintViolated:
            return isNews(error, forKey: name, at: revision) ? error : nil
        case .rootIsNotDictionary, .migrationFailed:
            return isNews(error, forKey: nil, at: revision) ? error : nil
        case .unreadable, .damaged, .notOurs, .unknownError, .userDefaultsUnavailable:
            mayEnd = true
            defer { store = error }
            return store == error ? nil : error
        case .ignoredInLayer(let faults):
            let news = faults.filter { layers.index(forKey: $0) == nil }
            mayEnd = true
            for fault in news { layers[fault] = .some(name) }
            return news.isEmpty ? nil : .ignoredInLayer(news)
        default:
            // What the caller asked for is wrong, or a write has left a warning.
            return error
        }
    }

    private mutating func isNews(_ error: PrefsError, forKey key: String?, at revision: Revision?) -> Bool {
        if revision == nil { mayEnd = true }
        let last = values[key]
        values[key] = (error, revision)
        guard let last, last.error == error else { return true }
        guard let revision, let former = last.revision else { return false }
        if revision.number > former.number { return true }
        // A thread has come late with an older state.
        values[key] = last
        return false
    }

    /// Forgets the faults of the store, of the root, and of the layers over this key: a read has just met none of them. The
    /// fault of the value itself is forgotten by `endValue(_:)`.
    private mutating func end(readOf name: String?) {
        store = nil
        layers = layers.filter { $0.value != name }
        endValue(nil)
    }

    /// Notes that a value fits, in a state without a revision; nil for the whole root.
    mutating func endValue(_ key: String?) {
        if values[key]?.revision == nil { values[key] = nil }
        mayEnd = store != nil || !layers.isEmpty || values.values.contains { $0.revision == nil }
    }
}

// MARK: - One access

/// What one access has met besides its result.
package struct AccessOutcome {
    /// The warning for `lastError`: the first that was noted, unless an unusable stored value replaces it.
    private(set) var warning: PrefsError?
    /// What was noted, and is not a part of the warning.
    private(set) var others: [PrefsError] = []
    /// All that was noted.
    private(set) var noted: [PrefsError] = []
    /// Whether the stored value could not be used, so that layers were read without it. The warning says why.
    private(set) var hasPassedOverBase = false
    /// Whether the write has reached the domain. If it fails after that, the domain itself has rolled back the update.
    var hasReachedDomain = false

    mutating func note(_ new: PrefsError) {
        noted.append(new)
        warning = warning ?? new
    }

    package mutating func note(_ faults: [PrefsProblem]) {
        guard !faults.isEmpty else { return }
        noted.append(.ignoredInLayer(faults))
        switch warning {
        case nil: warning = .ignoredInLayer(faults)
        case .ignoredInLayer(let known): warning = .ignoredInLayer(known + faults.filter { !known.contains($0) })
        default: others.append(.ignoredInLayer(faults))
        }
    }

    /// Not inlined, because it would cost every read.
    @inline(never)
    package mutating func passOverBase(_ error: PrefsError) {
        hasPassedOverBase = true
        noted.append(error)
        if let warning, warning != error { others.append(warning) }
        warning = error
    }

    /// After a write that succeeded, an error of its read no longer applies: a damaged file, for example, was
    /// quarantined and replaced. The write's own warning takes its place.
    mutating func recordSuccess(_ warning: PrefsError?) {
        self.warning = warning
    }
}

// MARK: - Calls

/// Calls the failure handlers. A handler is not called from within itself, because one that reads an unreadable root
/// would recurse without end.
package enum FailureHandler {
    private struct Call: Equatable {
        let subject: ObjectIdentifier
        let thread: pthread_t
    }

    private static let running = Locked<[Call]>([])

    /// Runs the handler of a subject, unless this thread is in it already.
    ///
    /// - Returns: whether it has run.
    @discardableResult
    package static func run(for subject: ObjectIdentifier, _ handler: () -> Void) -> Bool {
        let call = Call(subject: subject, thread: pthread_self())
        let isFirst = running.withLock { calls in
            if calls.contains(call) { return false }
            calls.append(call)
            return true
        }
        guard isFirst else { return false }
        defer { running.withLock { $0.removeAll { $0 == call } } }
        handler()
        return true
    }
}
