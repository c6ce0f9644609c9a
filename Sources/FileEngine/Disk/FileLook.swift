import Dispatch
import Foundation
import PrefsPropertyLists

/// Looks at the path of a file, and makes what is there the state that reads return. In the moments in which another program
/// saves the file, says for how long (`Presence`). Never changes anything on disk.
///
/// A class, because a copy of the names and of its parts costs each write thousands of instructions.
final class FileLook: Sendable {
    let names: FileNames
    let topLevel: TopLevel
    let system: SystemCalls
    let cache: FileCache
    let copies: LastGoodCopies
    let recovery: Recovery
    private let reader: FileReader

    init(_ names: FileNames, holds topLevel: TopLevel, copies: LastGoodCopies, system: SystemCalls) {
        self.names = names
        self.topLevel = topLevel
        self.system = system
        self.copies = copies
        cache = FileCache(system: system)
        reader = FileReader(names: names, system: system)
        recovery = Recovery(names: names, system: system, cache: cache, copies: copies)
    }

    var coder: ContentCoder { ContentCoder(topLevel: topLevel, rules: cache.rules, path: names.path) }

    /// What a look has found.
    enum Result {
        case state(FileState)
        /// Another program may be saving the file; another look is due after that time. A read returns the other
        /// state, if the process knows one. Nothing is published.
        case saving(Duration, lastKnownState: DomainState?)
    }

    /// What is known of a path that has led to another file before.
    struct FormerTarget {
        /// The state of the file that the path has led to before.
        let known: FileState
        /// When a link on the path was last made anew, as its file system says; nil if there is none.
        let moved: FileStatus.Time?
    }

    /// Who looks, and when the look has begun.
    private struct Beginning {
        let writeLock: WriteLock?
        let waits: Bool
        let formerTarget: FormerTarget?
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

    /// The state that a write depends on. Waits, without a lock, while another program saves the file.
    func untilSaved(_ formerTarget: FormerTarget? = nil) throws -> FileState {
        var wait = SaveWait()
        while true {
            if case .state(let state) = try self(formerTarget) { return state }
            try wait.pause(for: names.path, system)
        }
    }

    /// Looks once; again only if another thread has seen a newer file.
    ///
    /// - Parameters:
    ///   - formerTarget: what is known instead, if the path has led to another file.
    ///   - writeLock: the lock, while it is held: the name is looked up in the locked folder.
    ///   - waits: whether the caller waits for a missing file of which the process knows nothing.
    func callAsFunction(_ formerTarget: FormerTarget? = nil, under writeLock: WriteLock? = nil, waits: Bool = true)
        throws -> Result
    {
        while true {
            let begin = Beginning(
                writeLock: writeLock, waits: waits, formerTarget: formerTarget, time: system.monotonicNow(),
                wallClock: system.wallClockNow())
            // During a save, the same bytes are not read again.
            if writeLock == nil, let last = cache.state.withLock({ $0.malformed }),
                (try? system.status(ofPath: names.path, followsLinks: false)) == last.status,
                case .saving(let time) = answer(last.absence, last.changed, begin)
            {
                return saving(time, begin)
            }
            let found = try reader.find(by: coder, on: cache.newest?.volume ?? .local, under: writeLock)
            if case .whole(let state, let time) = found { return published(state, at: time) }
            let (answer, lack) = try answer(to: found, begin)
            switch answer {
            case .outdated: continue
            case .saving(let time): return saving(time, begin)
            case .beingWritten(let time), .restless(let time):
                return published(try state(of: lack, until: begin.time + time), at: begin.time)
            case .truth: return published(try state(of: lack, until: nil), at: begin.time)
            }
        }
    }

    private func saving(_ time: Duration, _ begin: Beginning) -> Result {
        let lastKnownState =
            begin.formerTarget.map { DomainState($0.known, isDuringSave: true) }
            ?? recovery.stateDuringSave(by: coder, under: begin.writeLock)
        return .saving(time, lastKnownState: lastKnownState)
    }

    private func published(_ state: FileState, at time: Duration) -> Result {
        cache.publish(state, at: time)
        return .state(state)
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
            return recovery.state(inPlaceOf: bytes, copy, mayBeWritten: mayBeWritten, until: end)
        }
    }

    // MARK: - What the moment is

    private func answer(to found: FileReader.Found, _ begin: Beginning) throws(FileError) -> (Presence.Answer, Lack) {
        switch found {
        case .whole: return (.truth, .nothing)
        case .missing:
            guard begin.formerTarget != nil || isExpected(waits: begin.waits, under: begin.writeLock) else {
                return (.truth, .nothing)
            }
            let stamps = [
                folderStamp(under: begin.writeLock), stampOfLostName, begin.formerTarget?.moved,
            ]
            return (answer(.missing, stamps.compactMap { $0 }.max(), begin), .nothing)
        case .changing:
            // It has changed now, whatever clock has stamped it.
            return (answer(.malformed, begin.wallClock, begin), .changing)
        case .malformed(let bytes):
            let (moment, copy) = try answer(toMalformed: bytes, begin)
            let mayBeWritten = if case .beingWritten = moment { true } else { false }
            return (moment, .malformed(bytes, copy, mayBeWritten: mayBeWritten))
        }
    }

    /// What an access does after a look that has found no whole file.
    ///
    /// - Parameter changed: when the file system stamped what was found.
    private func answer(
        _ absence: Presence.Absence, _ changed: FileStatus.Time?, _ begin: Beginning
    ) -> Presence.Answer {
        let clock = begin.wallClock...max(begin.wallClock, system.wallClockNow())
        return cache.state.withLock { state in
            let isKnown = begin.formerTarget != nil || state.known != nil || state.newest != nil
            return state.presence.answer(
                to: Presence.Look(
                    absence: absence, isKnown: isKnown, changed: changed, begin: begin.time, clock: clock))
        }
    }

    /// What an access does with a malformed file. Reads the last good copy if it is needed.
    private func answer(
        toMalformed bytes: MalformedBytes, _ begin: Beginning
    ) throws(FileError) -> (Presence.Answer, LastGoodCopy) {
        let status = bytes.source.status
        let absence: Presence.Absence = Recovery.isBlank(bytes.source.bytes.joined) ? .empty : .malformed
        func ask(since time: FileStatus.Time) -> Presence.Answer {
            // A file system may show a new size before its time.
            let whole = cache.state.withLock { $0.presence.whole?.status }
            let isUnstamped = time == whole?.modified && status.size != whole?.size
            let changed = isUnstamped ? nil : system.stamp(time, of: names.path)
            cache.state.withLock { $0.malformed = (status, absence, changed) }
            return answer(absence, changed, begin)
        }
        let first = ask(since: status.modified)
        switch first {
        case .outdated, .saving: return (first, .missing)
        case .beingWritten, .restless, .truth: break
        }
        let copy = try copies.lastGoodCopy(beside: bytes, by: coder, under: begin.writeLock)
        // A program of this package writes the copy just after it has replaced the file.
        if begin.writeLock == nil, case .damaged(let torn?) = copy, torn.modified > status.modified {
            return (ask(since: torn.modified), copy)
        }
        return (first, copy)
    }

    // MARK: - A missing file

    /// Whether a missing file may come back: this process knows it or, if it waits, finds a copy of it.
    private func isExpected(waits: Bool, under writeLock: WriteLock?) -> Bool {
        if cache.known != nil { return true }
        guard waits else { return false }
        // Most missing files have no copy. A file system in user space may show no file while one is replaced.
        guard (try? copies.copyStatus(under: writeLock)) != nil else {
            if let writeLock { return !writeLock.volume.tellsFilesApart }
            return (try? system.status(ofPath: names.path(of: names.lock), followsLinks: false)) != nil
                && !system.reportsChanges(inFolder: names.folder)
        }
        guard
            let folder = try? copies.folderStatus(under: writeLock),
            let copy = try? copies.lastGoodCopy(of: [geteuid(), folder.owner], by: coder, under: writeLock)
        else { return false }
        return copy.isOurs
    }

    /// When a missing file may have been removed: the last change of the names in the folder, or in the nearest folder above
    /// it that exists. nil if a server has stamped it.
    private func folderStamp(under writeLock: WriteLock?) -> FileStatus.Time? {
        if let writeLock {
            return (try? system.status(of: writeLock.folder)).flatMap { system.stamp($0.modified, of: names.path) }
        }
        var path = names.path
        while true {
            let folder = FileNames(path: path).folder
            if let status = try? system.status(ofPath: folder, followsLinks: false) {
                return system.stamp(status.modified, of: path)
            }
            if folder == "/" { return nil }
            path = folder
        }
    }

    /// When the file that was read lost its name: no program can set this time of the open file.
    private var stampOfLostName: FileStatus.Time? {
        guard let newest = cache.newest, let file = newest.file,
            let status = try? system.status(of: file.descriptor),
            status.isSameFile(as: newest.status ?? status), status.changed != newest.status?.changed
        else { return nil }
        return system.stamp(status.changed, of: names.path)
    }
}

/// The wait of one access for a program that is saving a file.
struct SaveWait {
    /// The limit of the wait, and its end; nil before the first pause.
    private var limit: (wait: LockWait?, end: DispatchTime?)?
    /// When the access began to wait.
    private(set) var began: Duration?

    /// - Throws: `FileError.busy` if the time of the task's writes is over.
    mutating func pause(for path: String, _ system: SystemCalls) throws(FileError) {
        let current = limit ?? (LockWait.current, LockWait.current?.deadline)
        limit = current
        if let wait = current.wait, let end = current.end, end <= .now() { throw wait.lostSave(path) }
        began = began ?? system.monotonicNow()
        system.pause()
    }
}
