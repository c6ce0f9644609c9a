import TestSupport
import Testing

@testable import PrefsFileEngine

@Suite struct SubscriberListTests {
    private final class Deaf: EntrySubscriber {
        func receive(_ change: EntryChange) -> (@Sendable () -> Void)? { nil }
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func theOrderIsThatOfComing(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var list = SubscriberList()
        var model: [Deaf] = []
        for _ in 0..<300 {
            if model.isEmpty || Int.random(in: 0..<5, using: &generator) < 3 {
                let new = Deaf()
                list.append(new)
                model.append(new)
            } else {
                let old = model.remove(at: Int.random(in: 0..<model.count, using: &generator))
                #expect(succeeds { list.remove(old) })
                #expect(!succeeds { list.remove(old) })
            }
            #expect(list.all.map(ObjectIdentifier.init) == model.map(ObjectIdentifier.init))
        }
    }

    /// Runs a mutating call, because `#expect` expands such calls wrongly.
    private func succeeds(_ body: () -> Bool) -> Bool { body() }
}
