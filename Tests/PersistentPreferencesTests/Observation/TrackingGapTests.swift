@testable import PrefsSupport
import Foundation
import Observation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsKeys

/// Commits between a read in a tracking on the main thread and the moment when the tracking begins to listen.
@Suite(.limited) @MainActor struct TrackingGapTests {
    private let store = PrefsStore.memory()

    private struct Size: PrefKey {
        static let defaultValue = 12
        static let stringKey = "size"
    }

    private func prefs() -> SizePrefs { SizePrefs(key: "Root", store: store) }

    /// Returns when the main queue has run everything that it has now.
    private func mainQueue() async {
        await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    }

    enum Reading: CaseIterable { case property, handle, subscripted, values, setting, several }

    @Test(arguments: Reading.allCases)
    func aCommitOfAnotherThreadAfterTheReadIsReported(_ reading: Reading) async {
        let prefs = prefs(), writer = self.prefs()
        let settings = AppSettingsValues(store: store, root: "Root")
        for size in 13...14 {
            let heard = tracking {
                switch reading {
                case .property: _ = prefs.size
                case .handle: _ = prefs.$size.value
                case .subscripted: _ = prefs["size"]
                case .values: _ = prefs.values
                case .setting: _ = settings[Size.self]
                case .several:
                    prefs.read {
                        // A commit between the beginning of `read` and a read in it.
                        inThreads(1) { _ in writer.size = size }
                        #expect(prefs.size == size - 1)
                    }
                }
                inThreads(1) { _ in writer.size = size }
            } onChange: {
                prefs.size
            }
            #expect(heard.all == [])
            await mainQueue()
            #expect(heard.all == [size])
        }
    }

    /// One block of the main queue announces them again. It may never run.
    @Test func manyCommitsAreReportedOnce() async {
        let prefs = prefs(), writer = self.prefs()
        let sizes = tracking {
            _ = prefs.size
            inThreads(4) { thread in for number in 0..<50 { writer.size = 100 * thread + number } }
        } onChange: {
            prefs.size
        }
        let names = tracking({ _ = prefs.name }, onChange: { prefs.name })
        await mainQueue()
        #expect(sizes.all == [prefs.size])
        #expect(names.all == [])
    }

    /// Of several keys, whichever is changed last.
    @Test func commitsOfTwoKeysAreBothReported() async {
        let prefs = prefs(), writer = self.prefs()
        let size = tracking {
            _ = prefs.size
            inThreads(1) { _ in writer.size = 13 }
            inThreads(1) { _ in writer.name = "a" }
        } onChange: {
            prefs.size
        }
        await mainQueue()
        #expect(size.all == [13])
        let name = tracking {
            _ = prefs.name
            inThreads(1) { _ in writer.name = "b" }
            inThreads(1) { _ in writer.size = 14 }
        } onChange: {
            prefs.name
        }
        await mainQueue()
        #expect(name.all == ["b"])
    }

    /// An update of several keys is one commit.
    @Test(arguments: ["size", "name"]) func eachKeyOfACommitIsReported(_ key: String) async {
        let prefs = prefs(), writer = self.prefs()
        for number in 1...2 {
            let heard = tracking {
                _ = key == "size" ? "\(prefs.size)" : prefs.name ?? ""
                inThreads(1) { _ in
                    let result = writer.update { (writer.size, writer.name) = (number, "\(number)") }
                    #expect(result.failure == nil)
                }
            } onChange: {
                "\(prefs.size) \(prefs.name ?? "")"
            }
            await mainQueue()
            #expect(heard.all == ["\(number) \(number)"])
        }
    }

    /// Once the main queue has run, each commit is announced once.
    @Test func noCommitIsAnnouncedAgainOutsideOfTheGap() async {
        let prefs = prefs(), writer = self.prefs()
        let settings = AppSettingsValues(store: store, root: "Root")
        let heard = Heard<Int>()
        func track(_ number: Int) {
            withObservationTracking {
                _ = (prefs.size, settings[Size.self])
            } onChange: {
                heard.append(number)
            }
        }
        track(1)
        await mainQueue()
        inThreads(1) { _ in writer.size = 13 }
        #expect(heard.all == [1])
        track(2)
        await mainQueue()
        #expect(heard.all == [1])
        // A commit of the main thread itself is announced once even if the main queue has not run since the read.
        _ = withObservationTracking({ prefs.size }, onChange: {})
        writer.size = 14
        #expect(heard.all == [1, 2])
        track(3)
        await mainQueue()
        #expect(heard.all == [1, 2])
    }

    @Test func aReleasedInstanceReceivesNothing() async {
        weak var released: SizePrefs?
        let writer = prefs()
        let heard: Heard<Int>
        do {
            let prefs = prefs()
            released = prefs
            heard = tracking {
                _ = prefs.size
                inThreads(1) { _ in writer.size = 13 }
            } onChange: {
                1
            }
        }
        #expect(released == nil)
        await mainQueue()
        #expect(heard.all == [])
    }
}
