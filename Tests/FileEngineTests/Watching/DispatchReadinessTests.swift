#if os(Linux) || os(Android)
    import Foundation
    import PrefsPropertyLists
    import TestSupport
    import Testing

    @testable import EngineSupport
    @testable import PrefsFileEngine

    /// What is due while Dispatch cannot be started.
    @Suite(.waits) struct DispatchReadinessTests {
        private let isScarce = Locked(true)
        private let heard = Heard<String>()
        private let queue = DispatchQueue(label: "DispatchReadinessTests")
        private let concurrent = DispatchQueue(label: "DispatchReadinessTests.concurrent", attributes: .concurrent)
        private let readiness: DispatchReadiness

        init() {
            readiness = DispatchReadiness { [isScarce] () throws(StorageFailure) in
                if isScarce.withLock({ $0 }) { throw StorageFailure("eventfd", "", code: EMFILE) }
                return try DispatchDescriptors()
            }
        }

        private func note(_ text: String) -> @Sendable () -> Void { { [heard] in heard.append(text) } }

        /// A queue of the program is used as it is before anybody has asked for the descriptors: a program with a store
        /// in memory needs none.
        @Test func closuresDoNotWaitBeforeTheFirstFailure() {
            readiness.async(on: queue, note("a"))
            #expect(heard.wait(for: 1) == ["a"])
        }

        @Test func closuresWaitInTheirOrder() {
            #expect(throws: StorageFailure.self) { try readiness.reserve() }
            for text in ["a", "b", "c"] { readiness.async(on: queue, note(text)) }
            queue.sync {}
            #expect(heard.all.isEmpty)
            isScarce.withLock { $0 = false }
            readiness.async(on: queue, note("d"))
            #expect(heard.wait(for: 4) == ["a", "b", "c", "d"])
        }

        /// Nothing else happens in the process.
        @Test func whatWaitsRunsWithoutAnotherCall() {
            #expect(throws: StorageFailure.self) { try readiness.reserve() }
            readiness.async(on: concurrent, note("a"))
            readiness.after(.now() + .milliseconds(1), on: queue, note("b"))
            // A timer of a serial queue does not need Dispatch's own.
            #expect(heard.wait(for: 1) == ["b"])
            isScarce.withLock { $0 = false }
            #expect(heard.wait(for: 2) == ["b", "a"])
        }

        @Test func aTimerRunsAtItsTime() {
            isScarce.withLock { $0 = false }
            let start = ContinuousClock.now
            readiness.after(.now() + .milliseconds(50), on: queue, note("a"))
            heard.wait(for: 1)
            #expect(.now - start >= .milliseconds(50))
        }
    }
#endif
