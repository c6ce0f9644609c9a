/// What a process has met while other programs saved its file.
package struct SaveTally: Codable, Sendable {
    /// The content that a person has written under the key `person`. Every state of the file has it.
    package static let kept = "keep"

    package var reads = 0
    package var writes = 0
    package var changes = 0
    /// Reads and changes without a key that every state of the file has, although the file was not missing for long.
    package var defaults = 0
    /// Such reads and changes while the file was missing for at least 240 ms.
    package var trueDefaults = 0
    /// Values that no state has, and values that are older than those before.
    package var foreign = 0
    /// Errors that plain looks at the file have refuted.
    package var untrueErrors = 0
    package var trueErrors = 0
    /// Reads that took more than 20 ms.
    package var slowReads = 0
    /// In milliseconds.
    package var longestRead = 0.0
    /// For how long the file was missing, at most, as plain looks have seen it, in milliseconds.
    package var longestAbsence = 0.0
    /// For how long it was missing or malformed: a saver may not be scheduled for a while.
    package var longestMalformed = 0.0
    /// The first of the defaults, values and errors that are violations.
    package var examples: [String] = []

    package init() {}

    package mutating func keep(_ example: String) {
        if examples.count < 5 { examples.append(example) }
    }

    package static func += (sum: inout SaveTally, other: SaveTally) {
        for count in [
            \SaveTally.reads, \.writes, \.changes, \.defaults, \.trueDefaults, \.foreign, \.untrueErrors, \.trueErrors,
            \.slowReads,
        ] {
            sum[keyPath: count] += other[keyPath: count]
        }
        sum.longestRead = max(sum.longestRead, other.longestRead)
        sum.longestMalformed = max(sum.longestMalformed, other.longestMalformed)
        sum.longestAbsence = max(sum.longestAbsence, other.longestAbsence)
        sum.examples += other.examples
    }
}
