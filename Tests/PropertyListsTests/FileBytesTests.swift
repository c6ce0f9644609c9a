import Foundation
import PrefsPropertyLists
import Testing
import TestSupport

/// The bytes of a file in parts are those of the file.
@Suite struct FileBytesTests {
    @Test(arguments: 0..<50) func partsReadAsOne(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let whole = Data((0..<Int.random(in: 0...40, using: &random)).map { UInt8($0 % 5) })
        var (parts, start) = ([Data](), 0)
        while start < whole.count {
            let end = min(start + 8 * Int.random(in: 0...3, using: &random), whole.count)
            parts.append(whole[start..<end])
            start = end
        }
        let bytes = FileBytes(parts)
        #expect(bytes.joined == whole && bytes.count == whole.count && bytes.parts.reduce(Data(), +) == whole)
        var written = Data()
        bytes.forEachPart { written += $0 }
        #expect(written == whole && bytes.hasSameBytes(as: whole) && !bytes.hasSameBytes(as: whole + [9]))
        var other = whole
        for index in whole.indices {
            other[index] ^= 1
            #expect(!bytes.hasSameBytes(as: other))
            other[index] ^= 1
        }
    }
}
