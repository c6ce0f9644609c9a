import Foundation
import Testing

@testable import PrefsPropertyLists

/// Durations as text. Written texts are read back exactly. The grammar of Python's `isodate` and texts of people are
/// read, too.
@Suite struct DurationTests {
    @Test(arguments: [
        (Duration.zero, "PT0S"), (.seconds(90), "PT1M30S"), (.seconds(3_600), "PT1H"), (.milliseconds(1_500), "PT1.5S"),
        (.seconds(-90), "-PT1M30S"), (.milliseconds(-5), "-PT0.005S"), (.seconds(86_400 * 3 + 1), "PT72H1S"),
        (.nanoseconds(1), "PT0.000000001S"),
        (Duration(secondsComponent: 0, attosecondsComponent: 1), "PT0.000000000000000001S"),
        (.seconds(Int64.max), "PT2562047788015215H30M7S"), (.seconds(1e20), "PT27777777777777777H46M40S"),
    ])
    func isWrittenAndReadExactly(duration: Duration, text: String) {
        #expect(duration.storable == .string(text))
        #expect(Duration(storable: .string(text)) == duration)
    }

    @Test(arguments: [
        ("90s", Duration.seconds(90)), ("1m30s", .seconds(90)), ("1h 30m", .seconds(5_400)),
        ("500ms", .milliseconds(500)),
        ("2d", .seconds(172_800)), ("1.5h", .seconds(5_400)), ("0.25s", .milliseconds(250)), ("-10s", .seconds(-10)),
        ("P1DT2H", .seconds(93_600)), ("P1D", .seconds(86_400)), ("pt1m", .seconds(60)), ("PT0.5H", .seconds(1_800)),
        ("250us", .microseconds(250)), ("250µs", .microseconds(250)), ("250\u{3BC}s", .microseconds(250)),
        ("3 ns", .nanoseconds(3)),
        ("5 min", .seconds(300)),
    ])
    func isReadAsPeopleWriteIt(text: String, duration: Duration) {
        #expect(Duration(storable: .string(text)) == duration)
    }

    @Test func numbersAreSeconds() {
        #expect(Duration(storable: .integer(90)) == .seconds(90))
        #expect(Duration(storable: .real(1.5)) == .milliseconds(1_500))
        #expect(Duration(storable: .real(.nan)) == nil && Duration(storable: .real(1e300)) == nil)
        // The longest durations: 5 billion millennia.
        let longest = Duration.seconds(1.7014e20)
        for duration in [longest, .zero - longest] { #expect(Duration(storable: duration.storable) == nil) }
    }

    @Test func theArrayOfFoundationsEncodersIsRead() throws {
        for duration in [Duration.seconds(90), .milliseconds(-1_500), .zero] {
            let array = try #require(
                JSONSerialization.jsonObject(with: JSONEncoder().encode([duration])) as? [[NSNumber]])[0]
            let stored = StoredValue.array([.integer(array[0].int64Value), StoredValue(array[1].uint64Value)])
            #expect(Duration(storable: stored) == duration)
        }
        #expect(Duration(storable: .array([.integer(.max), .integer(0)])) == nil, "too long")
        #expect(Duration(storable: .array([.integer(1)])) == nil)
    }

    @Test(arguments: [
        "", "s", "90", "PT", "P", "-", "1x", "30m1h", "1m1m", "PT1D", "P1H", "1..5s", "1.s", ".5s", "PT1M30", "1h30",
        "P1DT", " 90s",
        "99999999999999999999s", "99999999999999999d", "1.0000000001h", "PT1ms", "٣s",
    ])
    func otherTextsAreNone(text: String) {
        #expect(Duration(storable: .string(text)) == nil)
    }
}
