import Foundation
import TestSupport

@testable import PersistentPreferences

/// One encounter of an access with other bytes than were stored, and all that has to hold of it.
struct DamageCase: CustomStringConvertible {
    /// The accesses that meet the bytes; nil for the initializer.
    private static let meetings: [PrefsAccess?] = [nil, .read, .write, .changeInPlace, .update, .flush]

    /// What is beside the file at that moment.
    enum LastGood: CaseIterable {
        case good, absent, damaged
    }

    let name: String
    let bytes: Data
    let meeting: PrefsAccess?
    let lastGood: LastGood

    /// So many encounters with the same bytes, those from a number on of all that there are.
    static func cases(_ name: String, _ bytes: Data, from start: Int = 0, count: Int) -> [DamageCase] {
        (start..<start + min(count, combinations)).map { number in
            let (turn, meeting) = number.quotientAndRemainder(dividingBy: meetings.count)
            return DamageCase(
                name: name, bytes: bytes, meeting: meetings[meeting],
                lastGood: LastGood.allCases[turn % LastGood.allCases.count])
        }
    }

    static let combinations = meetings.count * LastGood.allCases.count

    /// All that is needed to repeat it.
    var description: String {
        let meeting = meeting.map { "\($0)" } ?? "the initializer"
        return "\(name), met by \(meeting), last good \(lastGood), \(bytes.base64EncodedString())"
    }

    var isWrite: Bool { [.write, .changeInPlace, .update].contains(meeting) }

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

    /// The line of the summary; a crash leaves none.
    var summary: String {
        "\(planned) damaged files, \(setAside) set aside, \(restored) restored, \(violations.count) lost, "
            + "\(planned - finished) not looked at to the end"
    }
}
