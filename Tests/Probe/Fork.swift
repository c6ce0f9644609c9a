import Foundation
import PersistentPreferences
import PrefsFileEngine
import TestSupport

/// A process that forks inside an `update`. Swift hides `fork`, but it exists, and libraries call it.
enum Fork {
    /// The child lives until standard input ends, and keeps the descriptors that it has inherited.
    static func childLivesOn(_ path: String, parentIsKilled: Bool) {
        let prefs = ProbePrefs(file: path)
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        let error = prefs.update { values in
            values["count"] = 2
            if fork() == 0 {
                if parentIsKilled {
                    // Ends when the parent does.
                    close(ends[1])
                    waitForEnd(of: ends[0])
                    write(1, "alone\n", 6)
                }
                waitForEnd(of: 0)
                _exit(0)
            }
            if parentIsKilled { kill(getpid(), SIGKILL) }
        }.failure
        say(error.map { "\($0)" } ?? "ok")
        // Both processes have standard input, so the end of this process does not end the child.
        while readLine() != nil {}
    }

    private static func waitForEnd(of descriptor: Int32) {
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) > 0 {}
    }

    /// The child also returns from the body and tries to commit, then makes its own accesses, while its parent is still
    /// in the body.
    static func childReturns(_ path: String) {
        let file = URL(filePath: path, directoryHint: .notDirectory)
        let prefs = ProbePrefs(file: path)
        var child: pid_t = -1
        let error = prefs.update { values in
            child = fork()
            values["count"] = child == 0 ? 666 : 2
            guard child != 0 else { return }
            var status: Int32 = 0
            waitpid(child, &status, 0)
            say("parent, in update: \(isLocked(file) ? "locked" : "unlocked")")
        }.failure
        say("\(child == 0 ? "child" : "parent"): \(error.map { "\($0)" } ?? "ok")")
        if child == 0 { _exit(0) }
        say("then: \(isLocked(file) ? "locked" : "unlocked") \(prefs["count"] as? Int ?? -1)")
    }

    /// A command that changes a file of another program, and leaves no lock file beside it.
    static func childOfACommandReturns(_ path: String) {
        ToolHook.$current.withValue(ToolHook(ownFiles: [])) { childReturns(path) }
    }

    /// A child that was forked outside of every update is a normal process.
    static func childWrites(_ path: String) {
        let prefs = ProbePrefs(file: path)
        prefs["count"] = 1
        let child = fork()
        for _ in 0..<100 { prefs.update { $0["count"] = ($0["count"] as? Int ?? 0) + 1 } }
        if child == 0 { _exit(prefs.lastError == nil ? 0 : 1) }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        print("\(status) \(prefs["count"] as? Int ?? -1)")
    }

    /// The child of a process that observes the file observes it, too. Prints what that says.
    static func childObserves(_ path: String) {
        let prefs = ProbePrefs(file: path)
        let observation = prefs.onChange(on: .global()) { _ in }
        say("parent: \(prefs.lastError.map { "\($0)" } ?? "ok")")
        let child = fork()
        if child == 0 {
            for observer in [prefs, ProbePrefs(file: path)] {
                _ = observer.onChange(on: .global()) { _ in }
                say("child: \(observer.lastError.map { "\($0)" } ?? "ok")")
            }
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        withExtendedLifetime(observation) {}
    }

    /// Forks again and again while eight threads read and write. Each child reads, adds 1 and ends. Prints how many
    /// children succeeded, the stored count and the expected count, and whether the parent is still notified of
    /// changes.
    static func threadsWrite(_ path: String, forks: Int) {
        let make: @Sendable () -> ProbePrefs = { path.isEmpty ? ProbePrefs() : ProbePrefs(file: path) }
        let prefs = make()
        prefs["count"] = 0
        // There is an observer, so that a commit does more work.
        let heard = DispatchSemaphore(value: 0)
        let observation = prefs.onChange(on: .global()) { change in
            if change.newValues["count"] as? Int == -7 { heard.signal() }
        }
        let (isOver, added) = (Locked(false), Locked(0))
        let (warmedUp, threads) = (DispatchSemaphore(value: 0), DispatchGroup())
        for _ in 0..<8 {
            threads.enter()
            Thread.detachNewThread {
                defer { threads.leave() }
                for round in 1... {
                    if isOver.withLock({ $0 }) { return }
                    // Each thread has its own instance, so that locks are made and freed while others fork.
                    let own = make()
                    for _ in 0..<20 { _ = own["count"] }
                    if own.update({ $0["count"] = ($0["count"] as? Int ?? 0) + 1 }).failure == nil {
                        added.withLock { $0 += 1 }
                    }
                    if round == 10 { warmedUp.signal() }
                }
            }
        }
        // Does every access once before a fork, because the first cast of a kind takes locks of the Swift runtime.
        _ = make()["count"] as? Int
        for _ in 0..<8 { warmedUp.wait() }
        var ended = 0
        for _ in 0..<forks {
            let child = fork()
            if child == 0 {
                // A child that hangs is ended by this, and counted.
                var signals = sigset_t()
                sigemptyset(&signals)
                sigprocmask(SIG_SETMASK, &signals, nil)
                alarm(60)
                let before = prefs["count"] as? Int
                let error = prefs.update { $0["count"] = ($0["count"] as? Int ?? 0) + 1 }.failure
                let after = make()["count"] as? Int
                // The child cancels its copy of the observation; the parent must still be notified.
                observation.cancel()
                _ = prefs.onChange(on: .global()) { _ in }
                let isTold = prefs.lastError.map { "\($0)".contains("cannot be watched in a forked process") } ?? false
                _exit(isTold && error == nil && before != nil && (after ?? 0) > (before ?? 0) ? 0 : 1)
            }
            var status: Int32 = 0
            waitpid(child, &status, 0)
            // Stops after one child that hung.
            guard status == 0 else { break }
            ended += 1
        }
        isOver.withLock { $0 = true }
        threads.wait()
        let count = prefs["count"] as? Int ?? -1
        // The parent must be notified of the write of this last child.
        if fork() == 0 {
            prefs["count"] = -7
            _exit(0)
        }
        let end = heard.wait(timeout: .now() + .seconds(2 * Patience.seconds)) == .success ? "heard" : "not heard"
        print("\(ended) of \(forks) children; \(count) of \(added.withLock { $0 } + ended); \(end)")
    }

    @_silgen_name("fork") private static func fork() -> pid_t
}
