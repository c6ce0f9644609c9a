#if os(Linux) || os(Android)
    import Foundation
    import TestSupport
    import Testing

    /// Observers of a process that cannot get what a watch needs: a queue of inotify, and the descriptors of Dispatch,
    /// which ends a process that has none.
    @Suite(.waits) final class WatchLimitsTests: SituationSuite {
        private static let limit = "Too many open files; raise the limit of this process (ulimit -n)"
        private static let consequence = "changes made elsewhere are looked for once a second"

        /// A step in which another process writes.
        private func write(_ number: Int) throws -> Step {
            let program = try Child.executable("Probe").path
            return "shell \(program) surroundings 'open \(path)' 'set \(number)' >/dev/null"
        }

        private static let noQueue =
            "inotify_init: Too many open files; raise fs.inotify.max_user_instances or the limit of this process "
            + "(ulimit -n); \(consequence)"

        /// The outcomes of the first observer with 0 to 10 free descriptors: eight are for the start of Dispatch.
        private static let outcomes =
            ["epoll_create1", "timerfd_create"].map { "\($0): \(limit); \(consequence)" }
            + Array(repeating: "eventfd: \(limit); \(consequence)", count: 6) + [noQueue, "ok", "ok"]

        /// A read of a file that has changed needs two descriptors.
        @Test(arguments: 0..<outcomes.count)
        func theFirstObserverWithFewDescriptors(_ free: Int) throws {
            let canRead = free > 1
            try run(
                "\(free) descriptors",
                ["open \(path)", "set 1", "leave \(free)", "observe => \(Self.outcomes[free])", "get => 1 ok"]
                    + [write(2)] + (canRead ? ["hear 1 => 1"] : []),
                later: ["descriptors free", "hear 1 => 1", "watched", "get => 2 ok", write(3), "hear 2 => 2"])
        }

        /// The file is watched, and its change cannot be read.
        @Test func aChangeWithoutADescriptorIsReadLater() throws {
            try run(
                "no descriptor",
                [
                    "open \(path)", "set 1", "observe", "watched", "leave 1", write(2),
                    "get => 1 \(path): open: \(Self.limit); the stored state is unchanged",
                ],
                later: ["descriptors free", "hear 1 => 1", "get => 2 ok"])
        }

        /// Another user has queues of its own.
        @Test(.enabled(if: Root.canRun("queues of inotify"))) func withoutAQueue() throws {
            chmod(home.path, 0o777)
            try run(
                "inotify",
                [
                    "identity 12346", "open \(path)", "set 1", "queues taken", "observe => \(Self.noQueue)", write(2),
                    "hear 1 => 1", "get => 2 ok", write(3), "hear 2 => 2",
                ],
                later: ["queues free", "watched", write(4), "hear 3 => 3"])
        }

        /// The first closure of the main queue needs a descriptor.
        @Test func theMainQueueIsCalledWhenThereIsADescriptorForIt() throws {
            let observer = try piped("watch")
            let writer = try piped("serve")
            #expect(try writer.ask("set 1") == "ok")
            for command in ["read", "leave 2", "track", "observe"] {
                #expect(try observer.ask(command) == "0 queues, idle")
            }
            #expect(try writer.ask("set 2") == "ok")
            #expect(try observer.line() == "change 2 elsewhere")
            try observer.tell("release")
            var line = ""
            while !line.hasPrefix("tracked") { line = try observer.line() }
            #expect(line == "tracked 2 on the main queue")
        }

        private static let canForbid: Bool = {
            let result = try? Child("Probe", ["surroundings", "forbid eventfd"], environment: [:]).wait()
            return result?.output == "forbid: ok\n"
        }()

        @Test(
            .enabled(
                if: Hazard.canRun("surroundings: forbidden calls", if: canForbid, else: "seccomp does not work here")),
            arguments: ["epoll_create1", "eventfd", "timerfd_create"])
        func theFirstObserverWithAForbiddenCall(_ call: String) throws {
            let advice = "allow this call in the filter of system calls (seccomp) of this process"
            try run(
                call,
                [
                    "forbid \(call)", "open \(path)", "set 1",
                    "observe => \(call): Operation not permitted; \(advice); \(Self.consequence)", "get => 1 ok",
                    "set 2",
                    "hear 1 => 1",
                ])
        }
    }
#endif
