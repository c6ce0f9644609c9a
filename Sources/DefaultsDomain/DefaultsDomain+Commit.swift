import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// One transaction.
extension DefaultsDomain {
    /// A commit in progress on a thread. It may be inside the commit of another domain, whose changes `UserDefaults`
    /// announces.
    final class CommitFrame {
        let domain: DefaultsDomain
        let outer: CommitFrame?

        init(_ domain: DefaultsDomain, in outer: CommitFrame?) {
            (self.domain, self.outer) = (domain, outer)
        }

        static var current: CommitFrame? {
            ThreadState.current.defaultsCommit.map { Unmanaged<CommitFrame>.fromOpaque($0).takeUnretainedValue() }
        }

        /// Runs the closure with this as the thread's innermost one.
        func run(_ body: () -> Void) {
            var state = ThreadState.current
            state.defaultsCommit = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
            withExtendedLifetime(self) { state.run(body) }
        }
    }

    /// Whether this thread is in the middle of a commit of the domain.
    var isCommitting: Bool {
        var frame = CommitFrame.current
        while let inner = frame, inner.domain !== self { frame = inner.outer }
        return frame != nil
    }

    /// Rejects a write of other code that `UserDefaults` calls in the middle of a commit. The write would wait for
    /// itself.
    func checkTurn() throws {
        guard isCommitting else { return }
        let reason = "another write is under way on this thread: write after the notification of UserDefaults"
        throw FileError.notStored(StorageFailure(path: "", reason: reason))
    }

    struct Session: TransactionSession {
        let domain: DefaultsDomain
        /// The domain as the transaction found it.
        let base: Content

        var content: Content? { base }

        func commit(_ content: Content, durability: CommitDurability) throws {
            try domain.commit(content, replacing: base)
        }
    }

    func begin() throws -> any TransactionSession {
        try checkReadable()
        return Session(domain: self, base: stored())
    }

    func commit(_ content: Content, replacing base: Content) throws {
        try checkSize(content, replacing: base)
        let changed = Set(content.keys).union(base.keys).filter { base[$0] != content[$0] }
        // Other processes may have changed some of them since the transaction began.
        let before = changed.compactMap { key in entries.stored(key).map { (key, $0) } }
        state.withLock {
            $0.underWay = CommitUnderWay(
                keys: Array(changed), before: Dictionary(uniqueKeysWithValues: before), after: content)
            $0.commits += 1
        }
        defer { state.withLock { $0.underWay = nil } }
        CommitFrame(self, in: .current).run {
            for key in changed { system.set(content[key]?.object, forKey: key) }
            // May set another entry, of which UserDefaults notifies other code.
            entries.didCommit(Array(changed))
            readability.didCommit(isEmpty: content.isEmpty)
        }
    }

    func takeWarning() -> FileError? {
        state.withLock { state in
            defer { state.warning = nil }
            return state.warning
        }
    }

    /// The content of this domain alone, because arguments and registered defaults must not be written back.
    func stored() -> Content {
        var entries = system.allEntries()
        entries[DefaultsEntryCache.mark] = nil
        return entries.mapValues(PropertyListVetter.value(ofStored:))
    }

    /// - Throws: `FileError.notStored` if the domain would be too large for the system.
    func checkSize(_ content: Content, replacing base: Content) throws(FileError) {
        let (warningSize, maximum) = system.sizeLimits
        let limit = warningSize ?? maximum
        // Computes the exact size only near the limit, because the estimate is cheap and close.
        guard content.estimatedBytes > limit / 2 else { return }
        let size = Self.size(of: content)
        guard size >= limit else { return }
        guard size < maximum else {
            // A domain that other code has made too large may still shrink.
            if size < Self.size(of: base) { return }
            let reason = "the domain would have \(size) bytes; this system allows less than \(maximum)"
            throw .notStored(StorageFailure(path: "", reason: reason))
        }
        state.withLock { $0.warning = .nearLimit(bytes: size, limit: maximum) }
    }

    /// In bytes; an estimate if other code has stored an entry that this package would not store.
    static func size(of content: Content) -> Int {
        (try? PropertyListCoder.encode(.dictionary(content), as: .binary).count) ?? content.estimatedBytes
    }
}
