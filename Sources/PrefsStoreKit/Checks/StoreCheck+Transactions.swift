import Foundation
import PersistentPreferences
import PrefsPropertyLists

extension StoreCheck {
    /// The checks of concurrent updates, and of an update that fails.
    static let transactions = [
        StoreCheck("incrementsAddUp", "N threads that each add 1 to a number M times leave N × M.") { place in
            try place.inThreads(place.threads) { _ in
                let store = try place.makeStore()
                for _ in 0..<place.updates {
                    try store.update(root: "A") { $0 = ["n": ($0?["n"] as? Int ?? 0) + 1] }
                }
            }
            let moment = "after \(place.updates) increments in each of \(place.threads) threads"
            try place.expectRoot("A", equals: ["n": place.threads * place.updates], moment)
        },
        StoreCheck("keysOfManyWritersSurvive", "Threads that write different keys of a root at once lose none.") {
            place in
            try place.inThreads(place.threads) { number in
                for value in 1...place.updates {
                    try place.store.update(root: "A") { $0 = ($0 ?? [:]).merging(["\(number)": value]) { $1 } }
                }
            }
            let keys = (0..<place.threads).map { ("\($0)", place.updates as Any) }
            try place.expectRoot("A", equals: Dictionary(uniqueKeysWithValues: keys), "after the last update")
        },
        StoreCheck("bodyRunsOnce", "The body of an update runs once, on the calling thread.") { place in
            let runs = Locked(0)
            try place.inThreads(place.threads) { _ in
                let caller = Thread.current
                for value in 1...place.updates {
                    try place.store.update(root: "A") { root in
                        runs.withLock { $0 += 1 }
                        try place.expect(Thread.current === caller, "The body ran on another thread.")
                        root = ["n": value]
                    }
                }
            }
            let expected = place.threads * place.updates
            let found = runs.withLock { $0 }
            try place.expect(found == expected, "Expected \(expected) runs of as many updates, found \(found).")
        },
        StoreCheck("throwingChangesNothing", "If an update throws before the commit, nothing has changed.") { place in
            try place.store.update(root: "A") { $0 = ["a": 1] }
            try place.expectError("an error", of: "an update whose body throws") {
                try place.store.update(root: "A") { root in
                    root = ["a": 2]
                    throw CheckedPlace.Stop()
                }
            }
            try place.expectRoot("A", equals: ["a": 1], "after the update has thrown")
        },
        StoreCheck("errorOfTheBodyIsThrown", "An update throws what its body throws.") { place in
            let error = try place.expectError("the error of the body", of: "an update whose body throws") {
                try place.store.update(root: "A") { _ in throw CheckedPlace.Stop() }
            }
            try place.expect(error is CheckedPlace.Stop, "Expected the error of the body, found \(error).")
        },
    ]

    /// Checks that a read of an unreadable place throws. Your test must make the place unreadable.
    ///
    /// ```swift
    /// try StoreCheck.unreadableThrows({ MyBackend(server) }, breaking: { server.stop() }, mending: { server.start() })
    /// ```
    ///
    /// - Parameters:
    ///   - makeBackend: returns a new backend on one place, empty at first.
    ///   - breaking: makes the place unreadable for backends that are created afterwards.
    ///   - mending: makes it readable again. May be called when it is.
    /// - Throws: an error as ``run(threads:updates:patience:_:)`` throws, or an error of the closures.
    public static func unreadableThrows(
        _ makeBackend: @escaping @Sendable () throws -> any PrefsBackend,
        breaking: @escaping @Sendable () throws -> Void,
        mending: @escaping @Sendable () throws -> Void
    ) throws {
        let check = StoreCheck("unreadableThrows", "Missing is nil; unreadable throws, and nothing changes.") { place in
            try place.store.update(root: "A") { $0 = ["a": 1] }
            try breaking()
            do {
                defer { try? mending() }
                let broken = try place.makeStore()
                try place.expectError("an error", of: "a read of an unreadable place") {
                    _ = try broken.read(root: "A")
                }
                if let remote = broken as? any RemotePrefsBackend {
                    try place.expectError("an error", of: "current of an unreadable place") {
                        _ = try remote.current(root: "A")
                    }
                }
                try place.expectError("an error", of: "an update of an unreadable place") {
                    try broken.update(root: "A") { $0 = ["a": 2] }
                }
            }
            try mending()
            try place.expect(place.makeStore().read(root: "A"), equals: ["a": 1], "when the place can be read again")
        }
        try check.run(makeBackend)
    }
}
