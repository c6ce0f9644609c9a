#if os(Linux) || os(Android)
    import Foundation
    import TestSupport
    import Testing

    /// Observers of a process that cannot get what a watch needs: a queue of inotify, and the descriptors of Dispatch,
    /// which ends a process that has none.
    @Suite(.waits) final class WatchLimitsTests: SituationSuite {
        private static let limit = "Too many open files; raise the limit of this process (ulimit -n)"
        private static let consequence = "changes made elsewhere are not reported"

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

        @Test(arguments: 0..<outcomes.count)
        func theFirstObserverWithFewDescriptors(_ free: Int) throws {
            try run(
                "\(free) descriptors",
                ["open \(path)", "set 1", "leave \(free)", "observe => \(Self.outcomes[free])", "get => 1 ok"],
                later: ["descriptors free", "observe", write(2), "hear 1 => 1", "get => 2 ok"])
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
