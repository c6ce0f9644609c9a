import Foundation
import PrefsPropertyLists

/// What this process has learned of a file, and what it leaves for the next access. Everything that reads, writes or mends the
/// file has a copy of this value, and all copies share one state behind one lock. Any thread.
struct FileCache: Sendable {
    struct State {
        /// The newest state, which reads return if the file has not changed since.
        var newest: FileState?
        /// The content that was read or written last. A read returns it in place of what it cannot read.
        var known: FileState?
        /// What was known of the file until it was found missing or empty. A write keeps it beside the file.
        var lost: FileState?
        /// What reads return while another program saves the file, and the copy that it was compared with.
        var duringSave: (copy: FileStatus?, state: DomainState)?
        /// The status of the malformed file that was read last, and what its bytes have shown.
        var malformed: (status: FileStatus, absence: Presence.Absence, changed: FileStatus.Time?)?
        /// What the next access reports, and the state of the file that it is about; nil if it is about something that has
        /// happened.
        var warning: (error: FileError, status: FileStatus?)?
        /// When the file had the state that was published last, by the monotonic clock.
        var publishedAt: Duration?
        var presence = Presence()
        var flushes = FlushRecord()
        var rules = FileRules()
        var hasBegun = false
        /// The folder of the last write, open.
        var folder: OpenFile?

        mutating func takeWarning() -> FileError? {
            defer { warning = nil }
            return warning?.error
        }
    }

    /// `FileLocation` keeps this for its reads, because an object that others refer to weakly, as to the file, costs more to
    /// retain.
    let state = Locked(State())
    let system: SystemCalls

    /// The state that reads return, if the file has not changed since it was read.
    var newest: FileState? { state.withLock { $0.newest } }

    var known: FileState? { state.withLock { $0.known } }

    // MARK: - States

    /// Makes a state the one that reads return. nil makes the next read load the file.
    ///
    /// - Parameter time: when the file had this state, by the monotonic clock; nil if there is no state.
    func publish(_ new: FileState?, at time: Duration? = nil) {
        // Its release may close a file, so it is outside of the lock.
        var former: FileState?
        defer { withExtendedLifetime(former) {} }
        state.withLock { state in
            // A slow thread must not bring back an older state than a faster one has published.
            if let time, let last = state.publishedAt, time < last { return }
            if let time { state.publishedAt = time }
            former = state.newest
            state.newest = new
            if let warned = state.warning?.status, new?.status != warned { state.warning = nil }
            guard let new, new.fault == nil else { return }
            guard let remembered = new.remembered else {
                // Reads no longer return what was known, but a write keeps it beside the file.
                state.lost = state.known ?? state.lost
                state.known = nil
                return
            }
            state.known = remembered
            if let time { state.presence.saw(new, at: time, system) }
            (state.duringSave, state.lost) = (nil, nil)
        }
    }

    /// Notes that this program has removed the file: nothing is lost, and no program is saving the file.
    func noteRemoval() {
        state.withLock { state in
            (state.known, state.lost, state.duringSave) = (nil, nil, nil)
            (state.newest, state.publishedAt) = (FileState(system: system), system.monotonicNow())
        }
    }

    /// Notes what the file has, although the next read has to load it.
    func note(_ known: FileState) {
        state.withLock { $0.known = known }
    }

    /// What was known of a file before it was found missing or empty.
    func lost(before base: FileState) -> FileState? {
        state.withLock { base.fault == nil ? $0.lost : $0.known }
    }

    /// Drops the newest state, so that the next read loads the file.
    func forget() {
        state.withLock { $0.newest = nil }
    }

    /// The state, if it is still that of the file at the path: see `FileState.validated(atPath:)`.
    @inline(__always)
    func validated(_ cached: FileState, atPath path: String) -> FileState? {
        // An open file that shows its replacement shows enough.
        if cached.volume.openFilesShowReplacement { return cached.validated(atPath: path) }
        let begin = system.monotonicNow()
        let current = cached.validated(atPath: path)
        if current?.fault == nil, current?.content != nil { state.withLock { $0.presence.sawWhole(at: begin) } }
        return current
    }

    /// What an access gets of a state.
    ///
    /// - Parameter hasWarning: whether there may be a warning to report.
    func reading(of found: FileState, hasWarning: Bool) -> DomainState {
        let (warning, format, durability) = state.withLock { state in
            (
                hasWarning && found.fault == nil ? state.takeWarning() : nil,
                found.format ?? state.rules.format(replacing: found), state.flushes.durability(of: found)
            )
        }
        return DomainState(
            found.content, revision: found.revision, warning: found.fault ?? warning, format: format,
            durability: durability)
    }

    // MARK: - Warnings

    /// Leaves a warning for the next access.
    ///
    /// - Parameter status: the state of the file that it is about. If the file changes before that access, the warning goes.
    func leaveWarning(_ error: FileError, of status: FileStatus? = nil) {
        state.withLock { $0.warning = (error, status) }
    }

    func takeWarning() -> FileError? {
        state.withLock { $0.takeWarning() }
    }

    // MARK: - Flushes

    func durability(of state: FileState) -> CommitDurability {
        self.state.withLock { $0.flushes.durability(of: state) }
    }

    // MARK: - Rules

    var rules: FileRules { state.withLock { $0.rules } }

    func setRules(_ change: (inout FileRules) -> Void) {
        state.withLock { state in
            let former = state.rules
            change(&state.rules)
            if state.rules.read(like: former) { return }
            let isReadLess = state.rules.formats.count < former.formats.count
            let isReadForText = state.newest?.format?.isXML == true && !state.rules.keepsText(like: former)
            if isReadLess || isReadForText || state.newest?.fault != nil { state.newest = nil }
        }
    }

    /// The format of a commit that replaces a state.
    func format(replacing base: FileState) -> FileFormat { state.withLock { $0.rules.format(replacing: base) } }

    /// The format whose forms the values of a state have. A write of a missing file makes a file of the format of a new one.
    @inline(__always)
    func format(of state: FileState) -> FileFormat { state.format ?? format(replacing: state) }

    /// That of the file when it was last read; before the first read, of a new file.
    var format: FileFormat? { newest.map(format(of:)) ?? rules.formatOfValues }

    var mirror: FileRules.DefaultsMirror? { state.withLock { $0.rules.mirror } }

    /// Calls `UserDefaults` of this process, under the write lock. It may write the file.
    func callMirror(_ call: () -> Void) {
        call()
        let time = system.wallClockNow()
        state.withLock { $0.presence.ownUntil = time }
    }
}
