extension FileLocation {
    /// Whether a file is there, and what an access does in the moment in which another program saves it.
    ///
    /// A program that saves a file may leave no file, an empty one or a part of one for a moment. A *window* begins with
    /// the first look that sees this. In a window, reads return the last known state, and writes wait. After it, what was
    /// seen is the truth: the file is missing, empty or malformed.
    ///
    /// The clock of this process measures a window. The times of the file system only say whether a window begins: a file
    /// that was deleted long ago has none.
    struct Presence {
        /// What a look has found instead of a whole file.
        enum Absence {
            case missing
            /// No bytes, or only blanks.
            case empty
            /// The end of the file is missing, or the file changed while it was read.
            case cutOff
        }

        /// What one look at a path without a whole file has shown.
        struct Evidence {
            let absence: Absence
            /// Whether the process knows a state of the file. If not, a read waits.
            let isKnown: Bool
            /// When the file system stamped the change that the look shows: the time of the folder if the file is missing,
            /// otherwise the time of the file. nil if it is unknown, or if a server has stamped it with another clock.
            let changed: FileStatus.Time?
            /// Whether that is still the stamp of the whole file: a file system may show a new size before its time.
            let isUnstamped: Bool
            /// The time before the look, by the monotonic clock.
            let begin: Duration
            /// The times before and after the look, by the wall clock.
            let clock: ClosedRange<FileStatus.Time>

            /// The length of a window. The end of an empty file is missing, too, for a process that waits for it.
            fileprivate var window: Duration {
                absence == .cutOff || absence == .empty && !isKnown ? .milliseconds(500) : .milliseconds(50)
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
            /// The file is what the look has seen.
            case truth
        }

        /// What the last look has seen, since when and when (by the monotonic clock), and the stamp of that change.
        private var absence: (kind: Absence, since: Duration, last: Duration, changed: FileStatus.Time?)?
        /// When the whole file was seen last; nil if it never was.
        private(set) var lastWhole: Duration?
        /// The sum of the times between looks since the whole file was seen. Each counts for a window at most.
        private var windowTimeUsed = Duration.zero

        /// How long an empty file counts as being written.
        private static let emptyTime = Duration.seconds(5)
        /// How long ago the file was whole, at most, if a save that the file system's times do not show may have begun.
        private static let recentWholeLimit = Duration.milliseconds(50)
        /// The most that windows may last together until the whole file is seen. A folder may change without an end
        /// although the file is not coming back.
        private static let mostWindows = Duration.seconds(1)
        /// How far a stamp may be in the future. A later one says that the clock was set back.
        private static let tolerance = Duration.milliseconds(20)

        /// Ends the absence, so that a later one begins anew.
        ///
        /// - Parameter time: when the file was whole.
        mutating func sawWhole(at time: Duration) {
            // A slow look says nothing of a later absence.
            if absence.map({ $0.since <= time }) ?? false { (absence, windowTimeUsed) = (nil, .zero) }
            lastWhole = max(lastWhole ?? time, time)
        }

        mutating func answer(to evidence: Evidence) -> Answer {
            if let lastWhole, evidence.begin < lastWhole { return .outdated }
            if let absence { windowTimeUsed += max(.zero, min(evidence.begin - absence.last, evidence.window)) }
            let since: Duration
            if let absence, absence.kind == evidence.absence,
                evidence.begin - absence.since < evidence.window || absence.changed == evidence.changed
            {
                since = absence.since
            } else {
                since = begin(evidence)
            }
            absence = (evidence.absence, since, evidence.begin, evidence.changed)
            let elapsed = evidence.begin - since
            if elapsed < evidence.window { return .saving(evidence.window - elapsed) }
            if evidence.absence == .empty, elapsed < Self.emptyTime { return .beingWritten(Self.emptyTime - elapsed) }
            return .truth
        }

        /// When the state that a look has seen began, by the monotonic clock.
        private func begin(_ evidence: Evidence) -> Duration {
            let age = evidence.changed.map { evidence.clock.lowerBound.since($0) }
            let isInFuture = evidence.changed.map { $0.since(evidence.clock.upperBound) > Self.tolerance } ?? false
            let isYoung = evidence.changed.map { !isInFuture && age ?? .zero < evidence.window + $0.step } ?? false
            let wasWhole = lastWhole.map { evidence.begin - $0 < Self.recentWholeLimit } ?? false
            let isFirst = absence?.kind != evidence.absence
            // A process that knows nothing waits once, also if a server has stamped the change.
            let isUnknown = evidence.changed == nil && !evidence.isKnown
            if isYoung || wasWhole || isFirst && (evidence.isUnstamped || isUnknown), isFirst || evidence.isKnown,
                windowTimeUsed + evidence.window <= Self.mostWindows
            {
                return evidence.begin
            }
            // A time in the future counts as long ago.
            return evidence.begin - (isInFuture ? Self.emptyTime : max(age ?? .zero, evidence.window))
        }
    }
}
