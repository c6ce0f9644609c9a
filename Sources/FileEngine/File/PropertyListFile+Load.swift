import Foundation
import PrefsPropertyLists

extension PropertyListFile {
    /// What is known of a path that has led to another file.
    struct PreviousTarget {
        let known: FileState
        /// When a link on the path was last made anew, as its file system says; nil if there is none.
        let moved: FileStatus.Time?
    }

    /// The state that an access works with.
    enum LoadResult {
        case state(FileState)
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
    func loadForWriting(previousTarget: PreviousTarget? = nil) throws -> FileState {
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
            let look = Look(
                writeLock: writeLock, waits: waits, previousTarget: previousTarget, time: system.monotonicNow(),
                wallClock: system.wallClockNow())
            // During a save, the same bytes are not read again.
            if writeLock == nil, let last = state.withLock({ $0.malformed }),
                (try? system.status(ofPath: names.path, followsLinks: false)) == last.status,
                case .saving(let time) = answer(last.absence, last.changed, look)
            {
                return saving(time, look)
            }
            let found = try reader.find(by: coder, on: cached?.volume ?? .local, under: writeLock)
            if case .whole(let snapshot, let time) = found { return .state(published(snapshot, at: time)) }
            let (answer, lack) = try answer(to: found, look)
            switch answer {
            case .outdated: continue
            case .saving(let time): return saving(time, look)
            case .beingWritten(let time), .restless(let time):
                return .state(published(try state(of: lack, until: look.time + time), at: look.time))
            case .truth: return .state(published(try state(of: lack, until: nil), at: look.time))
            }
        }
    }

    /// Who looks, and when the look has begun.
    private struct Look {
        let writeLock: WriteLock?
        let waits: Bool
        let previousTarget: PreviousTarget?
        /// By the monotonic clock.
        let time: Duration
        let wallClock: FileStatus.Time
    }

    /// What is at the path in place of a whole file.
    private enum Lack {
        case nothing
        /// Another file at each attempt.
        case changing
        case malformed(MalformedBytes, LastGoodCopy, mayBeWritten: Bool)
    }

    private func answer(
        _ absence: Presence.Absence, _ changed: FileStatus.Time?, _ look: Look
    ) -> Presence.Answer {
        answer(absence, changed, isKnown: look.previousTarget != nil, since: (look.time, look.wallClock))
    }

    private func answer(to found: FileReader.Found, _ look: Look) throws(FileError) -> (Presence.Answer, Lack) {
        switch found {
        case .whole: return (.truth, .nothing)
        case .missing:
            guard look.previousTarget != nil || isExpected(waits: look.waits, under: look.writeLock) else {
                return (.truth, .nothing)
            }
            let stamps = [stampOfRemoval(under: look.writeLock), look.previousTarget?.moved]
            return (answer(.missing, stamps.compactMap { $0 }.max(), look), .nothing)
        case .changing:
            // It has changed now, whatever clock has stamped it.
            return (answer(.malformed, look.wallClock, look), .changing)
        case .malformed(let bytes):
            let absence: Presence.Absence = Self.isBlank(bytes.source.bytes.joined) ? .empty : .malformed
            let (moment, copy) = try answer(to: bytes, absence, under: look.writeLock) { answer($0, $1, look) }
            let mayBeWritten = if case .beingWritten = moment { true } else { false }
            return (moment, .malformed(bytes, copy, mayBeWritten: mayBeWritten))
        }
    }

    /// The state that stands for what was found.
    ///
    /// - Parameter end: when another look is due although the file does not change; nil for never.
    private func state(of lack: Lack, until end: Duration?) throws(FileError) -> FileState {
        switch lack {
        case .nothing: return FileState(system: system)
        case .changing:
            throw .unreadable(StorageFailure(path: names.path, reason: "was changed during every attempt"))
        case .malformed(let bytes, let copy, let mayBeWritten):
            return state(inPlaceOf: bytes, copy, mayBeWritten: mayBeWritten, until: end)
        }
    }

    private func saving(_ time: Duration, _ look: Look) -> LoadResult {
        let lastKnownState =
            look.previousTarget.map { DomainState($0.known, isDuringSave: true) }
            ?? lastKnownState(under: look.writeLock)
        return .saving(time, lastKnownState: lastKnownState)
    }

    private func published(_ snapshot: FileState, at time: Duration) -> FileState {
        publish(snapshot, at: time)
        return snapshot
    }
}
