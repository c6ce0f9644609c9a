import Dispatch
import PersistentPreferences
import PrefsPropertyLists
import Testing

@testable import PrefsEtcd

/// An observer that is slower than the changes.
@Suite actor EtcdObserverTests: ThreadSuite {
    nonisolated let thread = SuiteThread()
    private func change(_ key: String, from before: Int?, to after: Int?, _ origin: PrefsChange.Origin) -> PrefsChange?
    {
        PrefsChange(
            root: "A", from: before.map { [key: $0] }, to: after.map { [key: $0] }, origin: origin)
    }

    private struct Heard {
        var counts: [Int] = []
        var last: PrefsChange?
    }

    /// Reports changes while the observer is busy with the first one, until they have all been heard of.
    private func hear(_ changes: [PrefsChange?], bytes: Int) -> Heard {
        let (begun, goesOn, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let heard = Locked(Heard())
        let observer = EtcdObserver { change in
            let isFirst = heard.withLock { heard in
                heard.counts.append(change.count)
                heard.last = change
                return heard.counts.count == 1
            }
            if isFirst {
                begun.signal()
                goesOn.wait()
            }
            if heard.withLock({ $0.counts.reduce(0, +) }) == changes.count { ended.signal() }
        }
        for (number, change) in changes.enumerated() {
            if let change { observer.receive(change, bytes: bytes) }
            if number == 0 { begun.wait() }
        }
        goesOn.signal()
        ended.wait()
        return heard.withLock { $0 }
    }

    @Test func theNewestOfManyChangesAreMerged() {
        let heard = hear((0..<3_000).map { change("count", from: $0, to: $0 + 1, .thisProcess) }, bytes: 10)
        #expect(heard.counts == Array(repeating: 1, count: 1_024) + [1_976])
        #expect(heard.last?.oldValues["count"] as? Int == 1_024)
        #expect(heard.last?.newValues["count"] as? Int == 3_000)
        #expect(heard.last?.origin == .thisProcess)
    }

    @Test func largeChangesAreMergedEarlier() {
        let changes = [
            change("a", from: 0, to: 1, .thisProcess), change("a", from: 1, to: 2, .elsewhere),
            change("b", from: nil, to: 1, .thisProcess), change("a", from: 2, to: 3, .thisProcess),
        ]
        let heard = hear(changes, bytes: 8 << 20)
        #expect(heard.counts == [1, 3])
        #expect(heard.last?.oldValues as? [String: Int] == ["a": 1])
        #expect(heard.last?.newValues as? [String: Int] == ["a": 3, "b": 1])
        #expect(heard.last?.origin == .elsewhere)
    }
}
