/// Recognizes text of formats that people mistake for property lists.
package enum ForeignText {
    /// The bracket with which an object, a list or an OpenStep property list begins, after a byte order mark and
    /// blanks; nil for other bytes.
    package static func bracket(of bytes: UnsafeRawBufferPointer) -> Character? {
        let first = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
            .first { $0 != 0x20 && !(9...13).contains($0) }
        return ["{", "[", "("].first { $0.utf8.first == first }
    }
}
