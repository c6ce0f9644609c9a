package import Foundation

/// A binary property list made of its objects. The first object is the top.
package struct BinaryList {
    package let data: Data

    /// - Parameters:
    ///   - referenceSize: the bytes of each reference in the objects.
    ///   - offsetSize: the bytes of each offset in the table; nil for as many as it needs.
    package init(_ objects: [[UInt8]], referenceSize: Int = 1, offsetSize: Int? = nil) {
        var list = Data("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(list.count)
            list += object
        }
        let table = list.count
        let offsetSize = offsetSize ?? (table < 256 ? 1 : 4)
        for offset in offsets { list += Self.bytes(of: offset).suffix(offsetSize) }
        list += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [objects.count, 0, table] { list += Self.bytes(of: number) }
        data = list
    }

    package static func bytes(of number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }
}
