@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsPropertyLists

/// Changes are delivered when a subscriber demands them. Closures, sequences and the Combine publishers use this.
@Suite struct MailboxTests {
    private let store = PrefsStore.memory()

    /// A subscriber that records the elements and answers with a demand.
    private final class Subscriber<Element: Sendable>: @unchecked Sendable {
        let heard = Heard<Element>()
        let queue = DispatchQueue(label: "MailboxTests")
        fileprivate(set) var changes: Mailbox?
        /// Called for each element.
        var answer: (Element) -> Int = { _ in 0 }
        private let inside = NSLock()

        /// - Parameter subscribe: begins a subscription on a queue, whose deliveries the closure answers.
        init(_ subscribe: (DispatchQueue, @escaping @Sendable (Element) -> Int) -> Mailbox?) {
            changes = subscribe(queue) { [weak self] in self?.receive($0) ?? 0 }
            #expect(changes != nil)
        }

        deinit { changes?.end() }

        private func receive(_ element: Element) -> Int {
            #expect(inside.try(), "two deliveries at once")
            defer { inside.unlock() }
            heard.append(element)
            return answer(element)
        }

        func request(_ count: Int) { changes?.request(count) }

        /// Returns when everything that was scheduled is delivered: a delivery schedules the next one before it ends.
        func settle() {
            for _ in 0..<2 { queue.sync {} }
        }

        /// Waits for so many elements, and for everything else that was scheduled. Returns all.
        func settled(_ count: Int) -> [Element] {
            heard.wait(for: count)
            settle()
            return heard.all
        }
    }

    private func prefs() -> SizePrefs { SizePrefs(key: "Root", store: store) }

    private func subscriber(of prefs: PersistentPrefs) -> Subscriber<PrefsChange> {
        Subscriber { prefs.demandedChanges(of: [], on: $0, $1) }
    }

    private func sizeSubscriber(of prefs: SizePrefs) -> Subscriber<Int> {
        Subscriber { prefs.$size.observed.demanded(on: $0, $1) }
    }

    @Test func nothingIsDeliveredBeyondTheDemand() {
        let prefs = prefs(), subscriber = subscriber(of: prefs)
        for size in 1...4 { prefs.size = size }
        subscriber.request(0)
        subscriber.settle()
        #expect(subscriber.heard.all.isEmpty)
        subscriber.request(2)
        #expect(subscriber.settled(2).map(\.text) == ["Root size: - → 1", "Root size: 1 → 2"])
        subscriber.request(1)
        #expect(subscriber.settled(3).dropFirst(2).map(\.text) == ["Root size: 2 → 3"])
    }

    @Test func theAnswerToADeliveryAddsToTheDemand() {
        let prefs = prefs(), subscriber = subscriber(of: prefs)
        subscriber.answer = { $0.newValues["size"] as? Int == 5 ? 0 : 1 }
        for size in 1...7 { prefs.size = size }
        subscriber.request(1)
        #expect(subscriber.settled(5).map { $0.newValues["size"] as? Int } == Array(1...5))
    }

    /// Deliveries do not nest, also when the first value is delivered by the request itself.
    @Test func aSubscriberRequestsInsideADelivery() {
        let prefs = prefs(), subscriber = sizeSubscriber(of: prefs)
        subscriber.answer = { [unowned subscriber] in
            if $0 != 4 { subscriber.request(1) }
            return 0
        }
        for size in 1...6 { prefs.size = size }
        subscriber.request(1)
        #expect(subscriber.settled(5) == [12, 1, 2, 3, 4])
    }

    @Test func anUnlimitedDemandStaysSo() {
        let prefs = prefs(), subscriber = sizeSubscriber(of: prefs)
        subscriber.answer = { _ in Mailbox.unlimited }
        subscriber.request(1)
        subscriber.request(Mailbox.unlimited)
        subscriber.request(Mailbox.unlimited - 1)
        for size in 100..<400 { prefs.size = size }
        #expect(subscriber.heard.wait(for: 301) == [12] + Array(100..<400))
    }

    @Test func theFirstValueIsThatOfTheSubscriptionAndIsDeliveredAtOnce() {
        let prefs = prefs()
        prefs.size = 13
        let subscriber = sizeSubscriber(of: prefs)
        prefs.size = 14
        subscriber.settle()
        #expect(subscriber.heard.all == [])
        nonisolated(unsafe) let thread = Thread.current
        subscriber.answer = { _ in
            #expect(Thread.current === thread)
            return 0
        }
        subscriber.request(1)
        #expect(subscriber.heard.all == [13])
        subscriber.answer = { _ in 0 }
        subscriber.request(1)
        #expect(subscriber.heard.wait(for: 2) == [13, 14])
    }

    @Test func anEqualValueUsesUpNoDemand() {
        let prefs = prefs(), subscriber = sizeSubscriber(of: prefs)
        subscriber.request(2)
        prefs.update { $0["size"] = 12 }
        prefs.name = "x"
        prefs.$size.reset()
        subscriber.settle()
        #expect(subscriber.heard.all == [12])
        prefs.size = 13
        prefs.size = 14
        #expect(subscriber.settled(2) == [12, 13])
    }

    @Test func anOptionalThatIsNilIsDelivered() {
        let prefs = prefs()
        let subscriber = Subscriber<String?> { _, receive in prefs.$name.observed.demanded(receive) }
        subscriber.request(3)
        #expect(subscriber.heard.all == [nil])
        prefs.name = "x"
        prefs.name = nil
        #expect(subscriber.heard.wait(for: 3) == [nil, "x", nil])
    }

    /// The delivery of the first value is slow. Changes in the meantime wait.
    @Test func oneDeliveryAtATime() {
        let prefs = prefs(), subscriber = sizeSubscriber(of: prefs)
        let isInside = Gate(), mayGo = Gate(), isOver = Gate()
        subscriber.answer = {
            if $0 == 12 {
                isInside.open()
                mayGo.pass()
            }
            return 0
        }
        Thread.detachNewThread {
            subscriber.request(Mailbox.unlimited)
            isOver.open()
        }
        isInside.pass()
        for size in 1...3 { prefs.size = size }
        subscriber.request(1)
        subscriber.settle()
        #expect(subscriber.heard.all == [12])
        mayGo.open()
        isOver.pass()
        #expect(subscriber.heard.wait(for: 4) == [12, 1, 2, 3])
    }

    @Test func requestsOfSeveralThreadsAddUp() {
        let prefs = prefs(), subscriber = sizeSubscriber(of: prefs)
        inThreads(8) { thread in
            for number in 0..<50 {
                if thread < 4 { subscriber.request(1) } else { prefs.update { $0["size"] = 100 * thread + number } }
            }
        }
        #expect(subscriber.heard.wait(for: 200).first == 12)
        #expect(subscriber.settled(200).count == 200)
        subscriber.request(Mailbox.unlimited)
        let all = subscriber.heard.wait(for: 201)
        for thread in 4..<8 {
            #expect(all.filter { $0 / 100 == thread } == (0..<50).map { 100 * thread + $0 })
        }
    }

    /// Another observer has received the first part of the merged change already. The two share it, because `keys` of
    /// the class returns one list.
    @Test func aMergedChangeIsTheSameBesideAFastObserver() {
        let prefs = store.observedPrefs(), subscriber = subscriber(of: prefs)
        let fast = Observer<Int> { tell in prefs.onChange { tell($0.count) } }
        let capacity = WaitingChanges.capacity
        for number in 1...capacity { prefs["a"] = -number }
        fast.wait(for: capacity)
        for number in 1...5 { prefs["a"] = number }
        fast.wait(for: capacity + 5)
        subscriber.request(Mailbox.unlimited)
        #expect(subscriber.heard.wait(for: capacity).last?.text == "Root a: \(1 - capacity) → 5 ×6")
    }

    /// What was delivered takes no room any more.
    @Test func largeChangesAreMergedAsFarAsTheyWait() throws {
        let value = StoredValue.dictionary(["size": .data(Data(count: 1 << 20))])
        let mebibyte = try #require(EntryChange(of: "Root", from: nil, to: value, isForeign: false))
        let most = WaitingChanges.byteCapacity >> 20
        var changes = WaitingChanges()
        // The limits of guarantee 9.
        #expect(WaitingChanges.capacity == 1_024 && most == 8)
        for _ in 0..<2 * most { changes.append(mebibyte) }
        var counts: [Int] = []
        func pop() { changes.popFirst().map { counts.append($0.count) } }
        pop()
        // A change that is merged takes the room of one.
        changes.append(mebibyte)
        while !changes.isEmpty { pop() }
        #expect(counts.count <= most + 1 && counts.reduce(0, +) == 2 * most + 1 && counts.last == 1, "\(counts)")
        var (merged, other) = (mebibyte, mebibyte)
        other.append(mebibyte)
        merged.append(other)
        #expect(merged.count == 3)
        changes.append(mebibyte)
        for _ in 0..<2 * most {
            changes.append(mebibyte)
            #expect(changes.popFirst()?.count == 1)
        }
    }

    // MARK: - The end

    enum End: CaseIterable {
        case insideTheFirstDelivery, insideAnother, fromOtherThreadsDuringADelivery, fromElsewhere

        /// The delivered elements of the first value, 12, and 13...20.
        var delivered: [Int] {
            switch self {
            case .insideTheFirstDelivery, .fromOtherThreadsDuringADelivery: [12]
            case .insideAnother: [12, 13]
            case .fromElsewhere: Array(12...20)
            }
        }
    }

    @Test(arguments: End.allCases)
    func nothingIsDeliveredAfterTheEnd(_ end: End) {
        let prefs = prefs(), subscriber = sizeSubscriber(of: prefs)
        subscriber.answer = { [unowned subscriber] size in
            switch end {
            case .insideTheFirstDelivery, .insideAnother:
                if size == end.delivered.last { subscriber.changes?.end() }
            case .fromOtherThreadsDuringADelivery: inThreads(4) { _ in subscriber.changes?.end() }
            case .fromElsewhere: break
            }
            return Mailbox.unlimited
        }
        for size in 13...20 { prefs.size = size }
        subscriber.request(Mailbox.unlimited)
        subscriber.heard.wait { $0.last == end.delivered.last }
        subscriber.settle()
        if end == .fromElsewhere { subscriber.changes?.end() }
        prefs.size = 21
        subscriber.request(5)
        subscriber.settle()
        #expect(subscriber.heard.all == end.delivered)
        #expect(!store.isFollowed)
    }

    /// The subscriber is released outside of every lock, because its deinit may use the preferences and the
    /// subscription.
    @Test func theEndReleasesTheSubscriber() {
        final class WritesAtItsEnd: @unchecked Sendable {
            let prefs: SizePrefs
            var changes: Mailbox?
            init(_ prefs: SizePrefs) { self.prefs = prefs }
            deinit {
                prefs.size = 77
                changes?.end()
            }
        }
        let prefs = prefs(), listener = subscriber(of: prefs)
        listener.request(1)
        var object: WritesAtItsEnd? = WritesAtItsEnd(prefs)
        let changes = prefs.$size.observed.demanded { [object] _ in object == nil ? 0 : 1 }
        object?.changes = changes
        object = nil
        changes?.request(1)
        #expect(listener.heard.all.isEmpty)
        changes?.end()
        #expect(listener.heard.wait(for: 1).map(\.text) == ["Root size: - → 77"])
    }

    @Test func aSubscriptionOutlivesItsInstance() {
        weak var released: SizePrefs?
        var subscriber: Subscriber<Int>?
        do {
            let prefs = prefs()
            released = prefs
            subscriber = sizeSubscriber(of: prefs)
        }
        #expect(released == nil)
        subscriber?.request(2)
        prefs().size = 13
        #expect(subscriber?.heard.wait(for: 2) == [12, 13])
    }

    @Test func whatIsRejectedCannotBeSubscribed() {
        let prefs = prefs()
        #expect(prefs.demandedChanges(of: ["unknown"]) { _ in 0 } == nil)
        #expect(prefs.lastError == .incorrectKeys(invalidElements: ["unknown"]))
        let bad = SizePrefs(key: "", store: store)
        #expect(bad.demandedChanges(of: []) { _ in 0 } == nil)
        #expect(bad.$size.observed.demanded { _ in 0 } == nil)
        #expect(!store.isFollowed)
    }
}
