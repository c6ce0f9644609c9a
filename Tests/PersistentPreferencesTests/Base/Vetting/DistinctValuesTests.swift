@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences

/// Contracts 4 and 5: distinct values are a change, equal values are not.
@Suite struct DistinctValuesTests {
    @Test(arguments: Group.different) func eachIsAChangeOfTheOthers(_ group: Group) throws {
        for (from, old) in group.values.enumerated() {
            for (to, new) in group.values.enumerated() where from != to {
                let prefs = AnyPrefs(values: ["a": old, "b": [old]], store: .memory())
                let before = exactForm(prefs.values)
                prefs.values = ["a": new, "b": [new]]
                #expect(prefs.outcome == "ok")
                let form = exactForm(try PropertyListVetter.storedObject(of: new).get())
                #expect(exactForm(prefs.values) == "{'a': \(form), 'b': [\(form)]}")
                #expect(exactForm(prefs.values) != before)
            }
        }
    }

    @Test(arguments: Group.equal) func noneIsAChangeOfTheOthers(_ group: Group) throws {
        for old in group.values {
            let before = try PropertyListVetter.value(of: old)
            for new in group.values {
                #expect(try PropertyListVetter.value(of: new).hashValue == before.hashValue)
                let change = try RootChange(
                    from: ["a": before, "b": .array([before]), "c": .dictionary(["k": before])], shownAs: [:],
                    to: ["a": new, "b": [new], "c": NSDictionary(object: new, forKey: "k" as NSString)])
                #expect(change.isEmpty)
            }
        }
    }

    /// The rejection must not depend on the stored value.
    @Test func aDecimalIsRejectedBesideAnEqualNumber() {
        let prefs = AnyPrefs(values: ["a": 1.0, "b": 1], store: .memory())
        for key in ["a", "b"] {
            prefs[key] = NSDecimalNumber(value: 1)
            #expect(prefs.outcome == "\(key): a Decimal would lose digits in a property list; store its description")
        }
    }

    @Test func whatIsNotTouchedIsNotVetted() throws {
        let foreign = NSNull()
        let change = try RootChange(
            from: ["a": .foreign(ForeignObject(foreign)), "b": .bool(true)], shownAs: ["a": foreign, "b": true],
            to: ["a": foreign, "b": false])
        #expect(change.assigned.mapValues(exactForm) == ["b": "false"])
    }

    /// Values to be compared with one another.
    struct Group: @unchecked Sendable {
        let values: [Any]

        init(_ values: Any...) {
            self.values = values
        }

        static let different = [
            Group(1, 1.0, true), Group(0, 0.0, -0.0, false, ""), Group("\u{E9}", "e\u{301}"),
            Group("a", "A", "a\u{0}", "\u{FEFF}a"), Group(Double.nan, Double.infinity, -Double.infinity, 0.0),
            Group(Date(timeIntervalSinceReferenceDate: 1), Date(timeIntervalSinceReferenceDate: 1.0.nextUp), 1.0),
            Group(Data(), Data([0]), "", [Any](), [String: Any]()),
            Group(UInt64.max, Int64(-1), Double(UInt64.max)), Group(Int.max, Double(Int.max)),
            Group(["k": 1], ["k": 1.0], ["k": true], ["K": 1], ["k": 1, "l": 1]),
            Group(["\u{E9}": 1], ["e\u{301}": 1]), Group([1, 2], [2, 1], [1], [1, 2, 2]),
        ]

        static let equal = [
            Group(
                1, Int8(1), UInt64(1), NSNumber(value: 1), NSNumber(value: UInt64(1)), Int?.some(1) as Any,
                AnyHashable(1)),
            Group(true, NSNumber(value: true)), Group(1.5, Float(1.5), NSNumber(value: Float(1.5))),
            Group(Double.nan, -Double.nan, Float.signalingNaN, NSNumber(value: Double.nan)),
            Group("a", NSString(string: "a"), NSMutableString(string: "a")),
            Group(Data([1]), NSMutableData(data: Data([1])), Data([0, 1]).dropFirst()),
            Group(
                Date.distantPast,
                NSDate(timeIntervalSinceReferenceDate: Date.distantPast.timeIntervalSinceReferenceDate)),
            Group([1, 2], [1, 2] as [Any], [Int8(1), Int8(2)], NSMutableArray(array: [1, 2]), [1, 2] as [Int?]),
            Group(["k": "v"], ["k": "v"] as [AnyHashable: Any], NSMutableDictionary(dictionary: ["k": "v"])),
        ]
    }
}
