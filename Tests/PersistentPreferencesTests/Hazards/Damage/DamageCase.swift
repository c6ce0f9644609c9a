@testable import PrefsSupport
import Foundation
import PropertyListSupport
import TestSupport
import WriteOperations

@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// One encounter of an access with other bytes than were stored, and all that has to hold of it.
struct DamageCase: CustomStringConvertible {
    /// The accesses that meet the bytes; nil for the initializer.
    static let meetings: [AccessKind?] =
        [nil, .read, .flush]
        + AccessKind.allCases.filter {
            // The others leave another content.
            if case .write(let operation) = $0 { operation.effect == .puts && operation.keepsOtherKeys } else { false }
        }

    /// What is beside the file at that moment.
    enum LastGood: CaseIterable {
        case good, absent, damaged
    }

    let name: String
    let bytes: Data
    /// Of the store.
    let format: PropertyListFormat
    let meeting: AccessKind?
    let lastGood: LastGood

    /// So many encounters with the same bytes, those from a number on of all that there are.
    static func cases(
        _ name: String, _ bytes: Data, as format: PropertyListFormat, from start: Int = 0, count: Int
    ) -> [DamageCase] {
        (start..<start + min(count, combinations)).map { number in
            let (turn, meeting) = number.quotientAndRemainder(dividingBy: meetings.count)
            return DamageCase(
                name: name, bytes: bytes, format: format, meeting: meetings[meeting],
                lastGood: LastGood.allCases[turn % LastGood.allCases.count])
        }
    }

    static let combinations = meetings.count * LastGood.allCases.count

    /// All that is needed to repeat it.
    var description: String {
        let meeting = meeting.map { "\($0)" } ?? "the initializer"
        return "\(name), met by \(meeting), last good \(lastGood), \(bytes.base64EncodedString())"
    }

    var isWrite: Bool { if case .write = meeting { true } else { false } }

    static var goodContent: [String: Any] {
        ["AnyPrefs": ["a": 1 as NSNumber, "b": "two", "c": Data([3])] as [String: Any], "x": true]
    }

    /// What the bytes are, and what has to come of them.
    enum Expected {
        /// They are a property list with a dictionary on top.
        /// `loss` says why a write would not keep all of it, if so.
        case content([String: Any], PropertyListFormat, loss: String?)
        /// They are malformed, for that reason.
        case damage(PropertyListFault)
        /// They may be a good file of others, which is left alone.
        case excess(String)

        /// - Parameter format: of the store.
        init(_ bytes: Data, for format: PropertyListFormat) {
            do {
                let (content, format, loss) = try PropertyListFile.decode(bytes, json: format == .json ? .file : nil)
                self = .content(content.objects, format, loss: loss)
            } catch {
                switch error {
                case .malformed(let fault): self = .damage(fault)
                case .unsupported(let reason): self = .excess(reason)
                }
            }
        }
    }

    var expected: Expected { Expected(bytes, for: format) }
}

/// What the encounters came to.
struct DamageTally {
    var planned = 0
    var finished = 0
    /// Malformed files that reads left as they were.
    var left = 0
    var quarantined = 0
    var rejected = 0
    var violations: [String] = []

    static func += (left: inout DamageTally, right: DamageTally) {
        left.planned += right.planned
        left.finished += right.finished
        left.left += right.left
        left.quarantined += right.quarantined
        left.rejected += right.rejected
        left.violations += right.violations
    }

    /// The line of the summary; a crash leaves none.
    var summary: String {
        "\(planned) files, \(left) left as they were by reads, \(quarantined) quarantined by writes, \(rejected) writes to "
            + "files of others rejected, \(violations.count) lost, \(planned - finished) not looked at to the end"
    }
}
