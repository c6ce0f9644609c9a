import Foundation
import PrefsPropertyLists

/// Whether a whole file is there, and what an access does in the moments in which another program saves it.
///
/// A program that saves a file may leave no file, an empty one, a part of one or one of zeros for a moment, and a whole
/// file that it goes on to change. Nothing in the bytes tells such a moment from its end, so only time does:
///
/// | what is found | is a moment of a save until | a read | a write |
/// |---|---|---|---|
/// | no file, or no folder, and this process knows a state | 250 ms after it changed | last known state | waits |
/// | no file, and it knows nothing, but a copy is there | 50 ms after the folder changed, once | waits | waits |
/// | a malformed file, or an empty one | 500 ms after it changed | last known state, or waits | waits |
/// | then: an empty file in a format for people | 5 s after it changed | last known state, and an error | is rejected |
/// | a whole file with other bytes than before, in place | 50 ms after it changed | its values | waits |
///
/// A moment ends after a second in all, although a file may change without an end; the next one begins when the file
/// was whole, or was seen not to change for the time in the table. Then what is found is the truth: missing, malformed
/// or whole. A file that changed long ago is the truth at once.
///
/// *When it changed* is what the file system has stamped, but not before the process saw the whole file. The stamp is that
/// of the bytes, because a new name or mode changes no bytes. Servers stamp with another clock, so there a malformed file
/// changed when the process saw it first, and a missing one when the file was seen last. The clock of this process
/// measures the time.
struct Presence {
    /// What a look has found instead of a whole file.
    enum Absence {
        case missing
        /// No bytes, or only blanks.
        case empty
        /// Bytes that are not a list, or that changed while they were read.
        case malformed
    }

    /// What one look at a path without a whole file has shown.
    struct Look {
        let absence: Absence
        /// Whether the process knows a state of the file, or that there was none. If not, a read waits.
        let isKnown: Bool
        /// When the file system stamped the change that the look shows: the time of the folder if the file is missing,
        /// otherwise the time of its bytes. nil if a server has stamped it, and if it is still the stamp of the whole
        /// file: a file system may show a new size before its time.
        let changed: FileStatus.Time?
        /// The time before the look, by the monotonic clock.
        let begin: Duration
        /// The times before and after the look, by the wall clock.
        let clock: ClosedRange<FileStatus.Time>

        fileprivate var window: Duration {
            absence != .missing ? .milliseconds(500) : isKnown ? .milliseconds(250) : .milliseconds(50)
        }
    }

    /// What an access does after a look. Another look is due after that time.
    enum Answer: Equatable {
        /// Another thread has seen the whole file since the look began.
        case outdated
        /// Another program may be saving the file: a read returns the last known state, a write waits.
        case saving(Duration)
        /// The file is empty, and a person's program may be writing it: a read returns the last known state with an
        /// error, a write is rejected. In formats for programs, this is the truth.
        case beingWritten(Duration)
        /// The file changes without an end, and is what the look has seen. The next look may show that it has come to rest.
        case restless(Duration)
        /// The file is what the look has seen.
        case truth
    }

    /// What looks have found since one state of the file, in times of the monotonic clock.
    private struct Moment {
        let absence: Absence
        let changed: FileStatus.Time?
        /// When it changed.
        let since: Duration
        let last: Duration
        let window: Duration

        var hasEnded: Bool { last - since >= window }
    }

    private var moment: Moment?
    /// When the whole file was seen last; nil if it never was.
    private(set) var lastWhole: Duration?
    /// The time that moments have lasted together since the file was whole or quiet.
    private var timeOfMoments = Duration.zero

    /// The most that moments may last together.
    private static let mostTime = Duration.seconds(1)
    /// How long an empty file counts as being written.
    private static let emptyTime = Duration.seconds(5)
    /// How far a stamp may be in the future. A later one says that the clock was set back.
    private static let tolerance = Duration.milliseconds(20)
    /// How long a file that is changed in place has to be unchanged before a write.
    private static let quietTime = Duration.milliseconds(50)

    // MARK: - No whole file

    mutating func answer(to look: Look) -> Answer {
        if let lastWhole, look.begin < lastWhole { return .outdated }
        var since = begin(of: look)
        if let moment {
            // Other names of a busy folder are no reason for a process that knows nothing to wait again.
            let isSame = moment.absence == look.absence
            let isUnchanged = isSame && (moment.changed == look.changed || look.absence == .missing && !look.isKnown)
            if isUnchanged { since = moment.since }
            let time = max(.zero, look.begin - moment.last)
            // A process that looks seldom has not seen what lasted so long.
            timeOfMoments += time < Self.mostTime ? min(time, look.window) : Self.quietTime
            if moment.hasEnded, !isUnchanged { timeOfMoments = .zero }
        }
        // A slow look takes no time back.
        let last = max(look.begin, moment?.last ?? look.begin)
        moment = Moment(
            absence: look.absence, changed: look.changed, since: since, last: last, window: look.window)
        let elapsed = look.begin - since
        let rest = look.window - elapsed
        let time = min(rest, Self.mostTime - timeOfMoments)
        if time > .zero { return .saving(time) }
        if look.absence == .empty, elapsed < Self.emptyTime { return .beingWritten(Self.emptyTime - elapsed) }
        return rest > .zero ? .restless(rest) : .truth
    }

    /// When the state that a look has found began, by the monotonic clock.
    private func begin(of look: Look) -> Duration {
        let longAgo = look.begin - Self.emptyTime
        let since: Duration
        if let changed = look.changed {
            let age = look.clock.lowerBound.since(changed) - changed.step
            let isInFuture = changed.since(look.clock.upperBound) > Self.tolerance
            since = isInFuture ? longAgo : look.begin - max(.zero, age)
        } else {
            since = look.absence == .missing && look.isKnown ? longAgo : look.begin
        }
        return max(since, lastWhole ?? since)
    }

    // MARK: - A whole file

    /// The whole file that was seen last, if its number tells it from other files.
    private(set) var whole: (status: FileStatus, checksum: UInt64)?
    /// The last change in place, and when the first write began to wait for its end.
    private var change: (made: Duration, awaitedSince: Duration?)?

    /// Ends the moment, so that a later one begins anew.
    ///
    /// - Parameter time: when the file was whole.
    mutating func sawWhole(at time: Duration) {
        // A slow look says nothing of a later moment.
        if moment.map({ $0.since <= time }) ?? false { (moment, timeOfMoments) = (nil, .zero) }
        lastWhole = max(lastWhole ?? time, time)
    }

    /// Notes a whole file, and whether it was changed in place. A commit makes another file, and does not end the changes
    /// of a program that goes on.
    ///
    /// - Parameter time: when the file was whole.
    mutating func saw(_ snapshot: FileState, at time: Duration, _ system: SystemCalls) {
        sawWhole(at: time)
        // The numbers of a server change by themselves.
        guard let status = snapshot.status, snapshot.volume.tellsFilesApart else { return }
        defer { whole = (status, snapshot.checksum) }
        guard let whole, whole.status.isSameFile(as: status), whole.checksum != snapshot.checksum,
            ownUntil.map({ status.modified > $0 }) ?? true
        else { return }
        let age = system.wallClockNow().since(status.modified) - status.modified.step
        let made = time - max(.zero, age)
        let isStillChanging = change.map { made - $0.made < Self.quietTime } ?? false
        change = (made, isStillChanging ? change?.awaitedSince : nil)
    }

    /// When `UserDefaults` of this process may last have written the file, by the wall clock. That is no change of
    /// others.
    var ownUntil: FileStatus.Time?

    /// Whether a write may start from the whole file: it is quiet, or the write has waited for a second. If not, another
    /// program may have written half of it. Notes that a write waits.
    ///
    /// - Parameter wait: the wait of the write. It ends after a second also if its looks are so rare that the file may
    ///   have been quiet between them.
    mutating func isQuiet(waitingSince began: Duration?, _ system: SystemCalls) -> Bool {
        guard let change else { return true }
        let now = system.monotonicNow()
        if now - change.made >= Self.quietTime {
            self.change = nil
            return true
        }
        let since = [change.awaitedSince, began].compactMap { $0 }.min() ?? now
        self.change?.awaitedSince = since
        return now - since >= Self.mostTime
    }
}
