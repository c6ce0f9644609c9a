@testable import PrefsSupport
import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsJSON

/// A root imports the export of another root exactly, in binary and JSON. XML loses the fractions of dates.
@Suite struct ExportIdentityTests {
    @Test(arguments: Hazard.each(2, of: Content.all + odd)) func everyKindOfValue(_ content: Content) throws {
        for list in try content.lists() { try Self.check(["a": list]) }
    }

    @Test(
        arguments: [
            [:], ["$date": "x"], ["$": 1], ["$$": 1], ["$date": 1, "a": 2], ["a": 1, "b": 1.0, "c": true],
            ["$data": ["$data": ["$double": "nan"]]], ["$\u{301}": 1],
        ] as [[String: any Sendable]])
    func everyKindOfRoot(_ values: [String: any Sendable]) throws {
        try Self.check(values)
    }

    @Test func randomNumbersAndDates() throws {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<Hazard.count(1, long: 6) {
            let numbers = (0..<200).map { _ in Double(bitPattern: generator.next()) }
            let dates = (0..<200).map { _ in
                let magnitude = Double.random(in: -8...17, using: &generator)
                let interval = pow(10, min(magnitude, 10.3)) * (Bool.random(using: &generator) ? 1 : -1)
                return Date(timeIntervalSinceReferenceDate: max(-6e16, min(6e16, interval)))
            }
            try Self.check(["a": numbers, "b": dates, "c": (0..<200).map { _ in generator.next() }])
        }
    }

    /// The deepest values, on a stack as small as in a secondary thread on Apple platforms.
    @Test func theDeepestValues() throws {
        try onSmallStack {
            for innermost in [1, Date(timeIntervalSinceReferenceDate: 0.5), Data([1]), Double.nan] as [Any] {
                let lists = (0..<64).reduce(innermost) { value, _ in [value] }
                let dictionaries = (0..<64).reduce(innermost) { value, _ in ["$k": value] }
                try Self.check(["a": lists, "b": dictionaries])
            }
        }
    }

    /// Values that `Content` does not have.
    private static let odd: [Content] =
        [
            Content(["$date": "2026-11-21T19:02:43Z"]), Content(["$date": 1]), Content(["$data": "AQ=="]),
            Content(["$double": "nan"]), Content(["$": ""]), Content(["$$date": ["$$$date": 1]]), Content(["$x": 1]),
            Content(["$date": 1, "$data": 2]), Content(["$\u{301}": 1]), Content(["": 1]),
            Content(seconds: -0.0), Content(NSNumber(value: UInt64.max - 1)), Content(NSNumber(value: Int64.min)),
            Content(NSNumber(value: 1e22)), Content(NSNumber(value: Double.leastNonzeroMagnitude)),
            Content(NSNumber(value: -0.1)),
            Content("\u{8}\u{C}\u{1F}\u{7F}\u{85}\u{2028}/\\\"\\u0041"), Content(["K": 1, "\u{301}k": 2]),
        ]
        + [
            785_358_163.25, 0.1, -0.1, 0.0001, 0.00009, 1e-300, -1e-300, 1.5, -1.5, -0.999999, 785_358_163.2512341,
            -63_145_526_399.5, -63_145_526_400, -63_145_526_400.5, 252_423_993_599, 252_423_993_599.5, 252_423_993_600,
            1e15, 5.9e16, -5.9e16, .leastNonzeroMagnitude,
        ].map(Content.init(seconds:))

    private static func check(_ given: [String: Any]) throws {
        let names = Array(given.keys)
        let prefs = AnyPrefs(names, values: given, store: .memory())
        #expect(prefs.outcome == "ok")
        let values = prefs.values
        for format in ExportFormat.allCases {
            guard let data = prefs.exported(as: format) else {
                // For some values, XML has no form that every reader reads as an equal value.
                let reasons = prefs.lastError?.failures.map(\.reason) ?? []
                #expect(
                    format == .xml && reasons.count == 1 && reasons[0].hasSuffix("cannot be stored in XML"),
                    "\(prefs.outcome)")
                continue
            }
            #expect(prefs.outcome == "ok")
            let copy = AnyPrefs(names, store: .memory())
            #expect(copy.import(data, merge: false) == nil, "\(format): \(copy.outcome)")
            let expected: Any = format == .xml ? inWholeSeconds(values) : values
            #expect(exactForm(copy.values) == exactForm(expected), "\(format)")
            if format != .binary { #expect(copy.exported(as: format) == data) }
            // Foundation reads it, too.
            #expect(try propertyList(from: data).count == values.count)
            #expect(data.starts(with: "bplist".utf8) == (format == .binary))
        }
    }
}
