@testable import PrefsSupport
import Foundation
import Testing

@testable import PrefsJSON
@testable import PrefsPropertyLists

/// Every truncation, every flipped bit and the effects of a power cut, with every kind of access, and with the last
/// good copy whole, missing or damaged. If the bytes still are a property list, they are read as such. If not, reads
/// leave the folder unchanged and return the newest known state, and a write quarantines the bytes or, without a copy,
/// is rejected.
///
/// `swift test` combines each damage with one kind of access in turn, and uses every eleventh damage, in the long form all, but of the XML
/// file every fifth. `PREFS_DAMAGE=36` combines every damage with all of them.
@Suite struct DamageMatrixTests {
    @Test(arguments: [FileFormat].all)
    func nothingIsLost(_ format: FileFormat) throws {
        let good = try Self.good(format)
        let run = try DamageRun(goodBytes: good, format: format)
        let count = Hazard.count("PREFS_DAMAGE", default: 1)
        for (number, damage) in (Self.cuts(of: good) + Self.flips(of: good)).enumerated() {
            // Steps of five, or eleven in the usual form, reach every bit of a byte and every kind of access. Most bits of an XML file have
            // similar effects.
            if count == 1, format == .plainXML || !Hazard.isLong, number % Hazard.count(11, long: 5) != 0 { continue }
            run.run(DamageCase.cases(damage.name, damage.bytes, as: format, from: number, count: count))
        }
        for (number, damage) in try Self.others(of: good, as: format).enumerated() {
            run.run(
                DamageCase.cases(
                    damage.name, damage.bytes, as: format, from: number,
                    count: count > 1 || Hazard.isLong ? DamageCase.meetings.count * count : 5))
        }
        for violation in run.tally.violations.prefix(20) { Issue.record("\(format): \(violation)") }
        #expect(run.tally.violations.isEmpty)
        Hazard.report("damage: \(format): \(run.tally.summary)")
    }

    /// Foundation judges the changes of a good XML file. This package reads what Foundation reads as equal values, or
    /// rejects it for one of a few reasons.
    @Test func whatFoundationReadsIsReadTheSame() throws {
        let good = try Self.good(.plainXML)
        for damage in Hazard.each(23, of: Self.cuts(of: good) + Self.flips(of: good)) {
            let ours = Result { () throws(PropertyListFault) in try PropertyListCoder.decode(damage.bytes) }
            #expect(throws: Never.self, "\(damage.name)") {
                switch ours {
                case .success(let list): try XMLJudge.checkAccepted(damage.bytes, list)
                case .failure(let failure): try XMLJudge.checkRejected(damage.bytes, failure)
                }
            }
        }
    }

    private typealias Damage = (name: String, bytes: Data)

    /// A good file without the lines above the list, whose damages would mostly be equal.
    private static func good(_ format: FileFormat) throws -> Data {
        let bytes = try PropertyListCoder.encode(plain: DamageCase.goodContent, as: format)
        guard format == .plainXML else { return bytes }
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\n").dropFirst(2).map { $0.drop { $0 == "\t" } }
        return Data(lines.joined(separator: "\n").utf8)
    }

    /// Every length, with the rest missing or, as after a power cut, zero.
    private static func cuts(of good: Data) -> [Damage] {
        (0..<good.count).flatMap { length -> [Damage] in
            let kept = good.prefix(length)
            return [
                ("cut to \(length) bytes", kept),
                ("zeros from byte \(length) on", kept + Data(count: good.count - length)),
            ]
        }
    }

    private static func flips(of good: Data) -> [Damage] {
        (0..<good.count * 8).map { bit in
            var bytes = good
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            return ("bit \(bit % 8) of byte \(bit / 8) flipped", bytes)
        }
    }

    private static func others(of good: Data, as format: FileFormat) throws -> [Damage] {
        let tops: [Any] = [["a"], "text", 1, 1.5, true, Date(timeIntervalSinceReferenceDate: 0), Data([1])]
        var damages: [Damage] = try tops.map {
            ("\(type(of: $0)) on top", try PropertyListCoder.encode(plain: $0, as: format))
        }
        let roots: [Any] = [["a"], "text", 1, true]
        damages += try roots.map {
            (
                "\(type(of: $0)) as root",
                try PropertyListCoder.encode(plain: ["AnyPrefs": $0, "Other": [:]], as: format)
            )
        }
        damages.append(("no root", try PropertyListCoder.encode(plain: ["Other": ["x": 1]], as: format)))
        damages.append(("a page of zeros", Data(count: 4_096)))
        damages.append(("twice over", good + good))
        for seed in 0..<UInt64(Hazard.count("PREFS_DAMAGE_GARBAGE", default: 12)) {
            var random = SeededGenerator(seed: seed)
            var bytes = Data(
                (0..<Int.random(in: 1...600, using: &random)).map { _ in .random(in: 0...255, using: &random) })
            if seed % 2 == 0 { bytes = good.prefix(Int.random(in: 6...60, using: &random)) + bytes }
            damages.append(("garbage of seed \(seed)", bytes))
        }
        return damages
    }
}
