import Foundation
import PrefsPropertyLists
import TestSupport

@testable import EngineSupport
@testable import PrefsFileEngine

/// Two entries, which other processes change, too.
final class FeedDomain: TransactionSession, FeedSource, @unchecked Sendable {
    let feed = ChangeFeed()
    let queue: TransactionQueue
    /// Whether each look waits.
    let waits = Heard<Bool>()
    /// The entries, as they are watched.
    let watched = Heard<String>()
    /// The entries whose watch could not start.
    let unwatched = Heard<String>()
    private let state = Locked(State())

    struct State {
        var entries: [String: StoredValue]? = ["own": FeedDomain.numbers(1), "other": FeedDomain.numbers(1)]
        var changed: (@Sendable () -> Void)?
        /// Called once, after the next read of the entries and before its result is used.
        var afterLook: (() -> Void)?
        /// Called once, in the middle of the next commit.
        var inCommit: (() throws -> Void)?
        /// The error of the next watch.
        var watchFailure: StorageFailure?
        /// The error of every watch.
        var lasting: StorageFailure?
        var fault: FileError?
        /// Why the entries cannot be read.
        var error: FileError?
        /// When the look after the next one is due, because another program is saving the domain.
        var saving: Duration?
    }

    let watchesEntries: Bool
    let mayOthersWrite: Bool

    init(watchesEntries: Bool = true, mayOthersWrite: Bool = false) {
        (self.watchesEntries, self.mayOthersWrite) = (watchesEntries, mayOthersWrite)
        queue = TransactionQueue(reportingTo: feed)
        feed.start(self)
    }

    func watch(entry: String, _ changed: @escaping @Sendable () -> Void) throws(StorageFailure) -> AnyObject? {
        if let failure = take(\.watchFailure) ?? state.withLock({ $0.lasting }) {
            unwatched.append(entry)
            throw failure
        }
        set(\.changed, changed)
        watched.append(entry)
        return self
    }

    func set<Part>(_ part: WritableKeyPath<State, Part?>, _ value: Part) {
        state.withLock { $0[keyPath: part] = value }
    }

    private func take<Part>(_ part: WritableKeyPath<State, Part?>) -> Part? {
        state.withLock { state in
            defer { state[keyPath: part] = nil }
            return state[keyPath: part]
        }
    }

    var content: [String: StoredValue]? { state.withLock { $0.entries } }

    func committedState(waits: Bool) throws -> DomainState {
        let found = content
        self.waits.append(waits)
        take(\.afterLook)?()
        if let error = state.withLock({ $0.error }) { throw error }
        if let next = take(\.saving) {
            return DomainState(nil, isDuringSave: true, nextLook: next)
        }
        return DomainState(found, warning: state.withLock { $0.fault })
    }

    func commit(_ content: [String: StoredValue], durability: CommitDurability) throws {
        try take(\.inCommit)?()
        set(\.entries, content)
    }

    private static func numbers(_ number: Int) -> StoredValue { .array([StoredValue(number)]) }

    func write(_ number: Int) throws {
        try queue.transact(durability: .process, begin: { self }) { $0["own"] = Self.numbers(number) }
    }

    func changeElsewhere(_ number: Int) {
        changeSilently(number)
        giveSign()
    }

    func changeSilently(_ number: Int) {
        set(\.entries, ["own": Self.numbers(number), "other": Self.numbers(number)])
    }

    func clear<Part>(_ part: WritableKeyPath<State, Part?>) { _ = take(part) }

    func giveSign() { state.withLock { $0.changed }?() }

    static let full = FileError.notStored(StorageFailure(path: "", reason: "full"))
}

extension ChangeFeed {
    /// Subscribes an observer of its own.
    func subscribe(to key: String, _ subscriber: ChangeSubscriber) throws -> EntrySubscription {
        try subscribe(to: key, subscriber.observer())
    }
}

/// Records each change and fault, and the threads that run the actions afterwards.
final class ChangeSubscriber: Sendable {
    let changes = Heard<String>()
    let faults = Heard<Bool>()
    let threads = Heard<ObjectIdentifier>()
    /// What the action of a fault runs.
    let whenFailed = Locked<(@Sendable () -> Void)?>(nil)
    private let instance: ChangeSubscriber?

    /// - Parameter instance: the reader of this subscriber; nil if it is one itself.
    init(for instance: ChangeSubscriber? = nil) { self.instance = instance }

    static func text(_ change: EntryChange) -> String {
        func text(_ entry: EntryState) -> String { (entry.value?.object as? [Int]).map { "\($0)" } ?? "-" }
        return "\(text(change.before)) → \(text(change.after))\(change.isForeign ? " elsewhere" : "")"
    }

    func observer() -> EntryObserver {
        EntryObserver(
            .each { [changes, threads] change in
                changes.append(Self.text(change))
                threads.append(ObjectIdentifier(Thread.current))
            }, reader: instance ?? self
        ) { [faults, whenFailed] error in
            faults.append(error != nil)
            return whenFailed.withLock { $0 }
        }
    }
}
