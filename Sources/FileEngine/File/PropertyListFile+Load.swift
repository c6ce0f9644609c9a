import Foundation
import PrefsPropertyLists

extension PropertyListFile {
    /// What is known of a path that has led to another file.
    struct PreviousTarget {
        let known: RememberedState
        /// When a link on the path was last made anew, as its file system says; nil if there is none.
        let moved: FileStatus.Time?
    }

    /// The state that an access works with.
    enum LoadResult {
        case state(Snapshot)
        /// Another program may be saving the file; another look is due after that time. A read returns the other
        /// state, if the process knows one. Nothing is published.
        case saving(Duration, lastKnownState: DomainState?)
    }

    /// How long an access waits for a file that another program may be saving.
    package enum Patience {
        /// Not at all. For files that the program only falls back on.
        case none
        /// Only if the process knows no state that it could return instead.
        case ofRead
        /// Until no program is saving the file, because the truth is asked for.
        case untilSaved
        /// As long, but within the time of the task's writes, because a write depends on it.
        case ofWrite
    }

    /// The state that a write depends on. Waits, without a lock, while another program saves the file.
    func loadForWriting(previousTarget: PreviousTarget? = nil) throws -> Snapshot {
        var wait = SaveWait()
        while true {
            if case .state(let snapshot) = try loadState(under: nil, previousTarget: previousTarget) { return snapshot }
            try wait.pause(for: names.path, system)
        }
    }

    /// Looks at the path, and makes its state the one that reads return. Never changes anything on disk. While the write
    /// lock is held, the name is looked up in the locked folder.
    ///
    /// - Parameters:
    ///   - waits: whether the caller waits for a missing file of which the process knows nothing.
    ///   - previousTarget: what is known instead, if the path has led to another file.
    func loadState(under writeLock: WriteLock?, waits: Bool = true, previousTarget: PreviousTarget? = nil) throws
        -> LoadResult
    {
        while true {
            let begin = (monotonic: system.monotonicNow(), wall: system.wallClockNow())
            func ask(_ absence: Presence.Absence, _ changed: FileStatus.Time?) -> Presence.Answer {
                self.answer(absence, changed, isKnown: previousTarget != nil, since: begin)
            }
            func saving(_ time: Duration) -> LoadResult {
                let lastKnownState =
                    previousTarget.map { DomainState($0.known, isDuringSave: true) } ?? lastKnownState(under: writeLock)
                return .saving(time, lastKnownState: lastKnownState)
            }
            // During a save, the same bytes are not read again.
            if writeLock == nil, let last = state.withLock({ $0.malformed }),
                (try? system.status(ofPath: names.path, followsLinks: false)) == last.status,
                case .saving(let time) = ask(last.absence, last.changed)
            {
                return saving(time)
            }
            let answer: Presence.Answer
            let truth: (_ end: Duration?) throws -> Snapshot
            switch try reader.find(under: writeLock) {
            case .whole(let snapshot, let time): return .state(published(snapshot, at: time))
            case .missing:
                truth = { _ in Snapshot(system: self.system) }
                if previousTarget != nil || isExpected(waits: waits, under: writeLock) {
                    let stamps = [stampOfRemoval(under: writeLock), previousTarget?.moved]
                    answer = ask(.missing, stamps.compactMap { $0 }.max())
                } else {
                    answer = .truth
                }
            case .changing:
                // It has changed now, whatever clock has stamped it.
                answer = ask(.malformed, begin.wall)
                truth = { _ in
                    let reason = "was changed during every attempt"
                    throw FileError.unreadable(StorageFailure(path: self.names.path, reason: reason))
                }
            case .malformed(let bytes):
                let absence: Presence.Absence = Self.isBlank(bytes.source.bytes.joined) ? .empty : .malformed
                let (found, copy) = try self.answer(to: bytes, absence, under: writeLock, ask)
                answer = found
                let mayBeWritten = if case .beingWritten = found { true } else { false }
                truth = { self.state(inPlaceOf: bytes, copy, mayBeWritten: mayBeWritten, until: $0) }
            }
            switch answer {
            case .outdated: continue
            case .saving(let time): return saving(time)
            case .beingWritten(let time), .restless(let time):
                return .state(published(try truth(begin.monotonic + time), at: begin.monotonic))
            case .truth: return .state(published(try truth(nil), at: begin.monotonic))
            }
        }
    }

    private func published(_ snapshot: Snapshot, at time: Duration) -> Snapshot {
        publish(snapshot, at: time)
        return snapshot
    }
}
