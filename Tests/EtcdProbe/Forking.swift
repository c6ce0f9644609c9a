import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit

/// A process that has read, written and observed, and forks. Swift hides `fork`; it is there all the same.
enum Forking {
    @_silgen_name("fork") private static func fork() -> pid_t

    static func run() throws {
        let store = try store()
        try store.update(root: "A") { $0 = ["count": 1] }
        let heard = Locked(-1)
        let observation = try store.observe(root: "A") { change in
            heard.withLock { $0 = count(in: change.newValues) }
        }
        func awaitHeard(_ count: Int) { while heard.withLock({ $0 }) != count { usleep(1_000) } }
        // Then the threads of the store are waiting, and hold no lock of the Swift runtime, which the child would inherit.
        try store.update(root: "A") { $0 = ["count": 0] }
        awaitHeard(0)
        let child = fork()
        for _ in 0..<20 {
            try store.update(root: "A") { $0 = ["count": count(in: $0) + 1] }
        }
        if child == 0 {
            try store.update(root: "B") { $0 = ["done": true] }
            // The child has a watch of its own, but no observers: Dispatch does not run in it.
            while try count(in: store.read(root: "A")) < 40 {}
            do {
                _ = try store.observe(root: "A") { _ in }
                say("child observes")
            } catch {
                say("child: \(error)")
            }
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        awaitHeard(40)
        // The last write of the child, which the watch of its parent has soon.
        while try store.read(root: "B") == nil {}
        try say("parent \(count(in: store.read(root: "A"))) \(store.read(root: "B")?["done"] ?? "nil") \(status)")
        observation.cancel()

        // A child that is forked inside of an update must not commit it.
        var inner: pid_t = -1
        var failure: (any Error)?
        do {
            try store.update(root: "A") { root in
                inner = fork()
                root = ["count": inner == 0 ? 666 : 42]
            }
        } catch {
            failure = error
        }
        if inner == 0 {
            if case PrefsError.notStored? = failure { say("inner rejected") } else { say("inner \(failure as Any)") }
            _exit(0)
        }
        waitpid(inner, &status, 0)
        try say("after \(count(in: store.read(root: "A"))) \(failure.map { "\($0)" } ?? "ok")")
    }
}
