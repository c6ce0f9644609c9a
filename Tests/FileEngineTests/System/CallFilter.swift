#if os(Linux)
    import Foundation
    import TestSupport

    /// Makes the kernel refuse system calls, as a sandbox does (`seccomp`).
    enum CallFilter {
        /// A call, with its number in the kernel's table of this processor.
        enum Call {
            case fchmod, flistxattr

            #if arch(x86_64)
                static let architecture: UInt32? = 0xC000_003E
                var number: UInt32 { self == .fchmod ? 91 : 196 }
            #elseif arch(arm64)
                static let architecture: UInt32? = 0xC000_00B7
                var number: UInt32 { self == .fchmod ? 52 : 13 }
            #else
                static let architecture: UInt32? = nil
                var number: UInt32 { 0 }
            #endif
        }

        /// Runs the closure on a thread of its own, for which the kernel refuses the call with that error. The closure starts
        /// no threads, because they would have the filter, too.
        ///
        /// - Returns: false if the kernel allows no filters. The closure is not run then.
        static func refuse(_ call: Call, with code: Int32, _ body: @escaping @Sendable () -> Void) -> Bool {
            let isFiltered = ResultBox()
            inThreads(1) { _ in
                guard install(call, code) else { return }
                isFiltered.value = true
                body()
            }
            return Hazard.canRun(
                "calls that a filter refuses", if: isFiltered.value, else: "the kernel allows no filter")
        }

        private final class ResultBox: @unchecked Sendable { var value = false }

        /// An instruction of the filter: `struct sock_filter`.
        private struct Instruction {
            let code: UInt16
            /// How many instructions are skipped if the comparison holds, and if not.
            var ifTrue: UInt8 = 0
            var ifFalse: UInt8 = 0
            let operand: UInt32
        }

        private static func install(_ call: Call, _ code: Int32) -> Bool {
            guard let architecture = Call.architecture else { return false }
            let (load, equals, answer): (UInt16, UInt16, UInt16) = (0x20, 0x15, 0x06)
            let filter = [
                // `struct seccomp_data` has the number of the call first, and then the architecture.
                Instruction(code: load, operand: 4),
                Instruction(code: equals, ifFalse: 3, operand: architecture),
                Instruction(code: load, operand: 0),
                Instruction(code: equals, ifFalse: 1, operand: call.number),
                Instruction(code: answer, operand: 0x0005_0000 | UInt32(code)),
                Instruction(code: answer, operand: 0x7FFF_0000),
            ]
            return filter.withUnsafeBufferPointer { instructions in
                var program = (count: UInt16(instructions.count), start: instructions.baseAddress)
                return withUnsafeMutablePointer(to: &program) { program in
                    let (forbidPrivileges, setFilter): (Int32, Int32) = (38, 22)
                    return prctl(forbidPrivileges, 1, 0, 0, 0) == 0
                        && prctl(setFilter, 2, UInt(bitPattern: program), 0, 0) == 0
                }
            }
        }
    }

    // The C library's function has a variable number of arguments, which Swift does not import.
    @_silgen_name("prctl")
    private func prctl(_ option: Int32, _ first: UInt, _ second: UInt, _ third: UInt, _ fourth: UInt) -> Int32
#endif
