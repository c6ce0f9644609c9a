@testable import PrefsSupport
import Foundation
import WriteOperations

@testable import PrefsFileEngine
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// One access to a file with changed bytes, and the expected outcome.
struct DamageCase: CustomStringConvertible {
    /// The kinds of access; nil for the initializer.
    static let meetings: [AccessKind?] =
        [nil, .read, .flush]
        + AccessKind.allCases.filter {
            // The other operations leave another content.
            if case .write(let operation) = $0 { operation.effect == .puts && operation.keepsOtherKeys } else { false }
        }

    /// The state of the last good copy beside the file.
    enum LastGood: CaseIterable {
        case good, absent, damaged
    }

    let name: String
    let bytes: Data
    /// The format of the store.
    let format: FileFormat
    let meeting: AccessKind?
    let lastGood: LastGood

    /// A number of cases with these bytes, from an index on.
    static func cases(
        _ name: String, _ bytes: Data, as format: FileFormat, from start: Int = 0, count: Int
    ) -> [DamageCase] {
        (start..<start + min(count, combinations)).map { number in
            let (turn, meeting) = number.quotientAndRemainder(dividingBy: meetings.count)
            return DamageCase(
                name: name, bytes: bytes, format: format, meeting: meetings[meeting],
                lastGood: LastGood.allCases[turn % LastGood.allCases.count])
        }
    }

    static let combinations = meetings.count * LastGood.allCases.count

    /// A description from which the case can be repeated.
    var description: String {
        let meeting = meeting.map { "\($0)" } ?? "the initializer"
        return "\(name), met by \(meeting), last good \(lastGood), \(bytes.base64EncodedString())"
    }

    /// Whether the bytes begin like text of a format that is not the store's.
    var mayBeForeign: Bool { format != .json && bytes.withUnsafeBytes(ForeignText.bracket) != nil }

    var isWrite: Bool { if case .write = meeting { true } else { false } }

    static var goodContent: [String: Any] {
        ["AnyPrefs": ["a": 1 as NSNumber, "b": "two", "c": Data([3])] as [String: Any], "x": true]
    }

    /// The meaning of the bytes, and the expected outcome.
    enum Expected {
        /// The bytes are a property list with a dictionary at the top. `loss` is the reason why a write would lose a
        /// part of it, if any.
        case content([String: Any], FileFormat, loss: String?)
        /// The bytes are malformed, for that reason.
        case damage(PropertyListFault)
        /// The bytes may be a valid file of another program, which is left alone.
        case excess(String)

        /// - Parameter format: the format of the store.
        init(_ bytes: Data, for format: FileFormat) {
            do {
                let (content, format, loss) = try ContentCoder.decode(bytes, in: .propertyLists + [format])
                self = .content(content.objects, format, loss: loss)
            } catch {
                self = error.isUnsupported ? .excess("\(error)") : .damage(error)
            }
        }
    }

    var expected: Expected { Expected(bytes, for: format) }
}

/// The counts of the cases.
struct DamageTally {
    var cases = 0
    /// The number of malformed files that reads left unchanged.
    var left = 0
    var quarantined = 0
    var rejected = 0
    var violations: [String] = []

    /// The line of the summary. After a crash it is missing.
    var summary: String {
        "\(cases) files, \(left) left as they were by reads, \(quarantined) quarantined by writes, \(rejected) writes to "
            + "files of others rejected, \(violations.count) lost"
    }
}
