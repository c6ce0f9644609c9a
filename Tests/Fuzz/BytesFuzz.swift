import Foundation
import PropertyListSupport

/// libFuzzer's entry points for bytes in the place of a file.
@_cdecl("LLVMFuzzerInitialize")
func initialize(_: OpaquePointer?, _: OpaquePointer?) -> CInt {
    do { try FuzzTarget.begin(FuzzSeeds.bytes) } catch { fatalError("\(error)") }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.run(start, count, BytesCheck.run)
}
