import Foundation
import TestSupport

/// A process that has few descriptors, or may not make some system calls.
enum Scarcity {
    nonisolated(unsafe) private static var taken: [Int32] = []

    #if canImport(Glibc)
        private static let openFiles = Int32(RLIMIT_NOFILE.rawValue)
    #else
        private static let openFiles = RLIMIT_NOFILE
    #endif

    /// Takes all descriptors but a few. A program that this process starts has all of them.
    static func leave(_ free: Int) {
        release()
        var limit = rlimit()
        getrlimit(openFiles, &limit)
        limit.rlim_cur = 64
        setrlimit(openFiles, &limit)
        while true {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { break }
            taken.append(descriptor)
        }
        for _ in 0..<free { close(taken.removeLast()) }
    }

    static func release() {
        taken.forEach { close($0) }
        taken = []
    }

    #if os(Linux)
        /// Takes all inotify queues of the user.
        static func takeQueues() {
            while true {
                let queue = inotify_init1(Int32(IN_CLOEXEC))
                guard queue >= 0 else { break }
                taken.append(queue)
            }
        }

        /// Makes a system call fail with EPERM, in this thread and those that it starts.
        ///
        /// - Returns: false if the system does not allow that.
        static func forbid(_ call: String) -> Bool {
            #if arch(arm64)
                let numbers: [String: UInt32] = ["epoll_create1": 20, "eventfd": 19, "timerfd_create": 85]
            #else
                let numbers: [String: UInt32] = ["epoll_create1": 291, "eventfd": 290, "timerfd_create": 283]
            #endif
            guard let number = numbers[call] else { return false }
            // Loads the number of the call. If it is this one, returns SECCOMP_RET_ERRNO with EPERM, otherwise
            // SECCOMP_RET_ALLOW.
            let program: [Instruction] = [
                Instruction(code: 0x20, value: 0), Instruction(code: 0x15, ifFalse: 1, value: number),
                Instruction(code: 0x06, value: 0x0005_0000 | UInt32(EPERM)),
                Instruction(code: 0x06, value: 0x7FFF_0000),
            ]
            return program.withUnsafeBufferPointer { instructions in
                let filter = Filter(count: UInt16(instructions.count), instructions: instructions.baseAddress)
                return withUnsafePointer(to: filter) {
                    // PR_SET_NO_NEW_PRIVS, and PR_SET_SECCOMP with SECCOMP_MODE_FILTER.
                    control(38, 1, nil, 0, 0) == 0 && control(22, 2, $0, 0, 0) == 0
                }
            }
        }

        /// `sock_filter`
        private struct Instruction {
            let code: UInt16
            var ifTrue: UInt8 = 0
            var ifFalse: UInt8 = 0
            let value: UInt32
        }

        /// `sock_fprog`
        private struct Filter {
            let count: UInt16
            let instructions: UnsafePointer<Instruction>?
        }

        @_silgen_name("prctl")
        private static func control(
            _ option: Int32, _ mode: UInt, _ filter: UnsafePointer<Filter>?, _ third: UInt, _ fourth: UInt
        ) -> Int32
    #else
        static func takeQueues() {}

        static func forbid(_ call: String) -> Bool { false }
    #endif
}
