@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsJSON

/// Observers that come and go at the worst moments: in the middle of a commit or a report.
@Suite struct JoiningTests {
    private let folder = TemporaryFolder.fresh

    private final class NumberPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var number = 0
        @Pref var date: Date? = nil
    }

    /// At each call of a commit an observer begins. Its start value and the received changes give the final state. No
    /// change is received twice or has the origin `elsewhere`.
    @Test(arguments: [FileFormat].all, [false, true])
    func inTheMiddleOfACommit(_ format: FileFormat, fails: Bool) throws {
        let date = Date(timeIntervalSinceReferenceDate: 5.5)
        var joined = 0
        for call in stride(from: 1, to: .max, by: Hazard.count(2, long: 1)) {
            let system = RecordingSystemCalls()
            system.flushes = false
            let url = folder.file("\(format) \(fails) \(call).plist")
            let store = PrefsStore.propertyList(url: url, format: format, system: system)
            let prefs = NumberPrefs(key: "Root", store: store)
            prefs.number = 1
            let heard = Heard<String>()
            nonisolated(unsafe) var observation: PrefsObservation?
            nonisolated(unsafe) var calls = 0
            nonisolated(unsafe) let thread = Thread.current
            system.onCall = { [weak system] name throws(StorageFailure) in
                // Ignores calls of the feed, which do not belong to the commit.
                guard Thread.current === thread else { return }
                calls += 1
                if calls == call {
                    system?.onCall = nil
                    observation = prefs.onChange { heard.append($0.text) }
                }
            }
            if fails { system.fail("rename", with: EIO) }
            prefs.update { (prefs.number, prefs.date) = (2, date) }
            system.onCall = nil
            guard observation != nil else { break }
            joined += 1
            // An event without a change: the feed reads the file, and has nothing to report.
            utimes(url.path, nil)
            prefs.number = 3
            let (first, last) = (fails ? 1 : 2, heard.wait { $0.last?.contains("→ 3") == true })
            #expect(last.last == "Root number: \(first) → 3", "call \(call)")
            #expect(last.count <= 2, "call \(call)")
            let whole = exactForm(format == .plainXML ? Date(timeIntervalSinceReferenceDate: 5) : date)
            if last.count == 2 {
                #expect(last[0] == "Root date: - → \(whole), number: 1 → 2" && !fails, "call \(call)")
            }
            observation?.cancel()
        }
        #expect(joined > 10)
    }

    /// A thread that releases a sequence, or a tracked instance, during the report of a commit waits for no lock.
    @Test(.timeLimit(.minutes(10))) func sequencesAreDroppedWhileOthersWrite() {
        let prefs = NumberPrefs(key: "Root", store: .memory())
        inThreads(4) { thread in
            for number in 0..<1_000 {
                if thread < 2 {
                    prefs.number = thread * 1_000 + number
                } else {
                    _ = prefs.changes()
                    _ = prefs.$number.updates.makeAsyncIterator()
                }
            }
        }
    }

    /// A waiting change keeps the root that it concerns.
    /// Every observer of an instance moves with it, however many others have ended.
    @Test func eachObserverMovesWithItsInstance() {
        let prefs = PrefsStore.memory().observedPrefs("One")
        var observers = (0..<40).map { _ in prefs.observer() }
        for index in (0..<40).reversed() where index % 3 == 0 { observers.remove(at: index) }
        observers += (0..<3).map { _ in prefs.observer() }
        prefs["a"] = 1
        for observer in observers { #expect(observer.wait(for: 1) == ["One a: - → 1"]) }
        prefs.key = "Two"
        prefs["b"] = 2
        for observer in observers {
            let heard = observer.wait(for: 3)
            #expect(heard == ["One a: - → 1", "Two a: 1 → -", "Two b: - → 2"])
            // The others would be waited for, too.
            if heard.count < 3 { break }
        }
    }

    @Test func aChangeOfTheFormerRootSaysSo() {
        let prefs = PrefsStore.memory().observedPrefs("One")
        let stall = Stall()
        let heard = stall.observer(of: prefs)
        prefs["a"] = 1
        prefs["a"] = 2
        prefs.key = "Two"
        prefs["b"] = 1
        stall.gate.open()
        #expect(heard.wait(for: 4).map(\.text) == ["One a: - → 1", "One a: 1 → 2", "Two a: 2 → -", "Two b: - → 1"])
    }
}
