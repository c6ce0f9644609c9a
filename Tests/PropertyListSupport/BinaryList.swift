package import Foundation

/// A binary property list made of its objects. The first object is the top; references have one byte.
package struct BinaryList {
    package let data: Data

    package init(_ objects: [[UInt8]]) {
        var bytes = Data("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        let offsetSize = table < 256 ? 1 : 4
        for offset in offsets { bytes += Self.bytes(of: offset).suffix(offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), 1]
        data = bytes + Self.bytes(of: objects.count) + Self.bytes(of: 0) + Self.bytes(of: table)
    }

    private static func bytes(of number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }
}
