package import Foundation

/// A binary property list made of the objects in an input of the fuzzer. The table of offsets and the trailer are
/// computed, so that mutants pass the checks of both.
package enum AssembledList {
    private static let start: UInt8 = 0

    /// - Returns: nil if the input does not have this form: a byte 0, with which no file begins, one byte for the
    ///   sizes, objects.
    package static func file(from input: Data) -> Data? {
        let input = [UInt8](input)
        guard input.count > 2, input[0] == start else { return nil }
        let referenceSize = 1 + Int(input[1] & 0x07)
        var rest = input[2...]
        var objects: [[UInt8]] = []
        while !rest.isEmpty {
            let object = rest.prefix(length(of: rest, referenceSize: referenceSize))
            objects.append(Array(object))
            rest = rest.dropFirst(object.count)
        }
        let offsetSize = 2 + Int(input[1] >> 4 & 0x03)
        return BinaryList(objects, referenceSize: referenceSize, offsetSize: offsetSize).data
    }

    /// The input that is assembled to a list of these objects, with references of one byte.
    package static func input(_ objects: [[UInt8]]) -> Data {
        Data([start, 0] + objects.joined())
    }

    /// The bytes that an object claims, at least one.
    private static func length(of object: ArraySlice<UInt8>, referenceSize: Int) -> Int {
        let marker = object[object.startIndex]
        let kind = marker >> 4
        var (count, head) = (Int(marker & 0x0F), 1)
        if count == 0x0F, kind >= 0x4, let next = object.dropFirst().first {
            let width = 1 << Int(next & 0x03)
            count = object.dropFirst(2).prefix(width).reduce(0) { min($0, 1 << 20) << 8 | Int($1) }
            head = 2 + width
        }
        switch kind {
        case 0x1, 0x2, 0x3: return 1 + 1 << Int(marker & 0x07)
        case 0x8: return 2 + Int(marker & 0x0F)
        case 0x4, 0x5: return head + count
        case 0x6: return head + 2 * count
        case 0xA, 0xC: return head + count * referenceSize
        case 0xD: return head + 2 * count * referenceSize
        default: return 1
        }
    }
}
