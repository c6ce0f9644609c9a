/// The limit on the cost of hashing and comparing a key.
///
/// Swift brings combining marks into an order when it hashes or compares a String. Every reader and the vetter reject a
/// key that is not in the Stream-Safe Text Format of Unicode Standard Annex #15, so no key takes more than linear time.
/// Values are compared by their bytes and need no limit.
package enum StreamSafeText {
    /// The most combining marks in a row.
    static let longestRun = 30

    package static let reason = "a key has more than \(longestRun) combining marks in a row"

    /// Costs nothing for a text of at most 60 bytes, and linear time for a longer one.
    @inline(__always)
    package static func isSafe(_ text: String) -> Bool {
        // A mark takes two bytes or more.
        text.utf8.count <= 2 * longestRun || isLongTextSafe(text)
    }

    private static func isLongTextSafe(_ text: String) -> Bool {
        var run = 0
        for scalar in text.unicodeScalars {
            if scalar.value < 0x300 || scalar.properties.canonicalCombiningClass == .notReordered {
                run = 0
            } else {
                run += 1
                if run > longestRun { return false }
            }
        }
        return true
    }
}
