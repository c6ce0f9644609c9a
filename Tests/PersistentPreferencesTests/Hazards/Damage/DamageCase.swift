import Foundation
import TestSupport

@testable import PersistentPreferences

/// One encounter of an access with other bytes than were stored, and all that has to hold of it.
struct DamageCase {
    /// The access that meets the bytes.
    enum Meeting: CaseIterable {
        case initializer, read, write, changeInPlace, update, flush

        var isWrite: Bool { [.write, .changeInPlace, .update].contains(self) }
    }

    /// What is beside the file at that moment.
    enum LastGood: CaseIterable {
        case good, absent, damaged
    }

    let name: String
    let bytes: Data
    let meeting: Meeting
    let lastGood: LastGood

    /// So many encounters with the same bytes, those from a number on of all that there are.
    static func cases(_ name: String, _ bytes: Data, from start: Int = 0, count: Int) -> [DamageCase] {
        (start..<start + min(count, combinations)).map { number in
            let (turn, meeting) = number.quotientAndRemainder(dividingBy: Meeting.allCases.count)
            return DamageCase(
                name: name, bytes: bytes, meeting: Meeting.allCases[meeting],
                lastGood: LastGood.allCases[turn % LastGood.allCases.count])
        }
    }

    static let combinations = Meeting.allCases.count * LastGood.allCases.count

    static var goodContent: [String: Any] {
        ["AnyPrefs": ["a": 1 as NSNumber, "b": "two", "c": Data([3])] as [String: Any], "x": true]
    }

    /// What the bytes are, and what has to come of them.
    enum Expected {
        /// They are a property list with a dictionary on top.
        case content([String: Any], PropertyListFormat)
        /// They are damaged, for that reason.
        case damage(String)
        /// They may be a good file of others, which is left alone.
        case excess(String)

        init(_ bytes: Data) {
            do {
                let (content, format) = try PropertyListFile.decode(bytes)
                self = .content(content, format)
            } catch {
                switch error {
                case .damage(let reason): self = .damage(reason)
                case .excess(let reason): self = .excess(reason)
                }
            }
        }
    }

    var expected: Expected { Expected(bytes) }
}

/// What the encounters came to.
struct DamageTally {
    var planned = 0
    var finished = 0
    var setAside = 0
    var restored = 0
    var violations: [String] = []

    static func += (left: inout DamageTally, right: DamageTally) {
        left.planned += right.planned
        left.finished += right.finished
        left.setAside += right.setAside
        left.restored += right.restored
        left.violations += right.violations
    }

    /// The line of the summary. A crash leaves no line at all; what did not come to its end is counted as one.
    var summary: String {
        "\(finished) damaged files, \(setAside) set aside, \(restored) restored, \(violations.count) lost, "
            + "\(planned - finished) crashed"
    }
}
