import Foundation
import PrefsFileEngine
import PrefsJSON
import PrefsPropertyLists

/// Looks at a path with `stat` all the time, to tell whether a file may have been missing or empty for as long as an
/// error says. For any thread.
final class PlainLooks: @unchecked Sendable {
    /// How long a file was missing or without bytes.
    private struct Absence {
        private var lastThere: ContinuousClock.Instant = .now
        private var isGone = false
        private(set) var longest = Duration.zero

        mutating func saw(_ isThere: Bool, between begin: ContinuousClock.Instant, and end: ContinuousClock.Instant) {
            // An upper bound: from the last look at the file to the first one that saw it again.
            if isGone || !isThere { longest = max(longest, end - lastThere) }
            isGone = !isThere
            if isThere { lastThere = begin }
        }

        /// The longest absence so far, with the present one.
        var atMost: Duration { max(longest, .now - lastThere) }
    }

    private let lock = NSLock()
    private var missing = Absence()
    private var empty = Absence()
    private var short = Absence()
    private var malformed = Absence()
    /// The file whose bytes were looked at last, and whether they were whole.
    private var parsed: (status: stat, isWhole: Bool)?
    private var largest: Int64 = 0
    private let path: String

    init(_ path: String) {
        self.path = path
        Thread.detachNewThread { [self] in
            while true {
                look()
                usleep(100)
            }
        }
    }

    /// How long the file was missing at most.
    var missingTime: Duration { lock.withLock { missing.atMost } }

    /// How long the file was missing or empty at most.
    var emptyTime: Duration { lock.withLock { empty.atMost } }

    /// How long the file was missing or had less than nine tenths of its bytes, at most.
    var shortTime: Duration { lock.withLock { short.atMost } }

    /// How long the file was missing, or had bytes that are no list, at most.
    var malformedTime: Duration { lock.withLock { malformed.atMost } }

    /// Whether the bytes are a list. They are read once for each state.
    private func isWhole(_ status: stat) -> Bool {
        if let parsed, parsed.status.st_ino == status.st_ino, parsed.status.st_size == status.st_size,
            parsed.status.st_mtim.tv_sec == status.st_mtim.tv_sec,
            parsed.status.st_mtim.tv_nsec == status.st_mtim.tv_nsec
        {
            return parsed.isWhole
        }
        let bytes = try? Data(contentsOf: URL(filePath: path))
        let isWhole = bytes.map { (try? ContentCoder.decode($0, in: .all)) != nil } ?? false
        parsed = (status, isWhole)
        return isWhole
    }

    private func look() {
        var status = stat()
        let begin = ContinuousClock.now
        let isThere = stat(path, &status) == 0
        let end = ContinuousClock.now
        let isWhole = isThere && isWhole(status)
        lock.withLock {
            malformed.saw(isWhole, between: begin, and: end)
            missing.saw(isThere, between: begin, and: end)
            empty.saw(isThere && status.st_size > 0, between: begin, and: end)
            largest = max(largest, Int64(status.st_size))
            short.saw(isThere && Int64(status.st_size) * 10 >= largest * 9, between: begin, and: end)
        }
    }
}
