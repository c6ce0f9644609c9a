import Foundation
import PropertyListSupport

/// libFuzzer's entry points for values that a program may want to store.
@_cdecl("LLVMFuzzerInitialize")
func initialize(_: OpaquePointer?, _: OpaquePointer?) -> CInt {
    do { try FuzzTarget.begin(FuzzSeeds.choices) } catch { fatalError("\(error)") }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(start, count, ValueCheck.run)
}
