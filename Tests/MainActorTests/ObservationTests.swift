import Observation
import PersistentPreferences
import Testing

final class ViewPrefs: Prefs, @unchecked Sendable {
    @Pref var number = 0
    @Pref var title = ""
}

/// A view model as in an app: its closures access it without any annotation.
@Observable final class ViewModel {
    private(set) var numbers: [[Int]] = []
    private(set) var titles: [String] = []
    @ObservationIgnored private var observations: [PrefsObservation] = []
    @ObservationIgnored private var isOver = false
    @ObservationIgnored private var finish: CheckedContinuation<Void, Never>?

    func follow(_ prefs: ViewPrefs) {
        observations = [
            prefs.$number.onChange(on: MainActor.shared) { old, new in
                self.numbers.append([old, new])
                self.look()
            },
            prefs.onChange(of: "title", on: MainActor.shared) { [weak self] change in
                self?.titles.append(change.newValues["title"] as? String ?? "")
                self?.look()
            },
            prefs.onChange(of: ["title"], on: MainActor.shared) { change in
                if change.newValues["title"] as? String == "end" { self.isOver = true }
                self.look()
            },
        ]
    }

    /// Observers are called separately, so one may receive the last change before another has received all changes.
    private func look() {
        guard isOver, titles.last == "end", numbers.last?.last == 200 else { return }
        finish?.resume()
        finish = nil
    }

    func waitForTheEnd(_ start: () -> Void) async {
        await withCheckedContinuation {
            finish = $0
            start()
        }
    }

    func cancel() { observations = [] }
}

@Suite struct ObservationTests {
    @Test func changesOfOtherThreadsArriveInOrderOnTheMainActor() async {
        let prefs = ViewPrefs(store: .memory())
        let model = ViewModel()
        model.follow(prefs)
        await model.waitForTheEnd {
            Task.detached {
                for value in 1...200 { prefs.number = value }
                prefs.title = "almost"
                prefs.title = "end"
            }
        }
        #expect(model.numbers == (1...200).map { [$0 - 1, $0] })
        #expect(model.titles == ["almost", "end"])
        model.cancel()
    }

    @Test func noCallFollowsACancellationOnTheMainActor() async {
        let prefs = ViewPrefs(store: .memory())
        var cancelled = 0
        var heard: [[String]] = []
        let first = prefs.onChange(on: MainActor.shared) { _ in cancelled += 1 }
        let second = prefs.$number.onChange(on: MainActor.shared) { _, _ in cancelled += 1 }
        let third = prefs.onChange(on: MainActor.shared) { heard.append($0.keys) }
        prefs.number = 1
        prefs.title = "a"
        // Their calls wait on the main queue by now.
        first.cancel()
        second.cancel()
        while heard.count < 2 { await Task.yield() }
        #expect(heard == [["number"], ["title"]])
        #expect(cancelled == 0)
        third.cancel()
    }
}
