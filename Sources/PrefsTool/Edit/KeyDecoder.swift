import PersistentPreferences

/// A key press.
enum Key: Equatable {
    /// One scalar of text. A combining mark is a separate key.
    case text(String)
    /// Pasted text, with any contents.
    case paste(String)
    case up, down, left, right, home, end, pageUp, pageDown
    case tab, backTab, enter, escape, backspace, delete
    /// Control-U.
    case eraseLine
    /// Control-L.
    case redraw
}

/// Decodes a terminal's bytes to keys, also if the bytes arrive in pieces.
struct KeyDecoder {
    private static let escape: UInt8 = 0x1B

    private var bytes: [UInt8] = []
    /// The bytes of the current paste; nil outside a paste.
    private var pasted: [UInt8]?

    /// True if the only byte is Escape. It may be the Escape key or the start of a sequence, and only a timeout
    /// decides. A sequence with more bytes is awaited without a timeout.
    var hasPendingEscape: Bool { pasted == nil && bytes == [Self.escape] }

    mutating func keys(from more: some Sequence<UInt8>) -> [Key] {
        bytes += more
        var keys: [Key] = []
        while !bytes.isEmpty, let (key, count) = first() {
            bytes.removeFirst(count)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// Called after a timeout: a pending Escape byte is the Escape key.
    mutating func keysAfterTimeout() -> [Key] {
        guard hasPendingEscape else { return [] }
        bytes = []
        return [.escape]
    }

    /// Decodes the first key. Returns the key, if any, and its number of bytes; nil if more bytes are needed.
    private mutating func first() -> (Key?, Int)? {
        if pasted != nil { return continuedPaste() }
        switch bytes[0] {
        case Self.escape: return sequence()
        case 0x0D, 0x0A: return (.enter, 1)
        case 0x09: return (.tab, 1)
        case 0x7F, 0x08: return (.backspace, 1)
        case 0x01: return (.home, 1)
        case 0x05: return (.end, 1)
        case 0x0C: return (.redraw, 1)
        case 0x15: return (.eraseLine, 1)
        case ..<0x20: return (nil, 1)
        default: return scalar()
        }
    }

    private func scalar() -> (Key?, Int)? {
        let length =
            switch bytes[0] {
            case ..<0x80: 1
            case 0xC2..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF5: 4
            default: 0
            }
        let candidate = bytes.prefix(length)
        // Skips a byte that is not UTF-8.
        guard length > 0, candidate.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return (nil, 1) }
        guard candidate.count == length else { return nil }
        return (String(validUTF8: candidate).map(Key.text), length)
    }

    // MARK: - Sequences

    private mutating func sequence() -> (Key?, Int)? {
        guard bytes.count > 1 else { return nil }
        switch bytes[1] {
        case UInt8(ascii: "O"):
            guard bytes.count > 2 else { return nil }
            return (Self.key(final: bytes[2], parameter: ""), 3)
        case UInt8(ascii: "["): return controlSequence()
        // Escape and another key in quick succession. Alt has no meaning here.
        default: return (.escape, 1)
        }
    }

    private mutating func controlSequence() -> (Key?, Int)? {
        guard let end = bytes[2...].firstIndex(where: { !(0x20...0x3F).contains($0) }) else { return nil }
        let final = bytes[end]
        // Another sequence or a control character interrupts this one.
        guard (0x40...0x7E).contains(final) else { return (nil, end) }
        if final == UInt8(ascii: "["), end == 2 {
            // A function key of the Linux console has one more letter.
            return bytes.count > 3 ? (nil, 4) : nil
        }
        let parameter = String(decoding: bytes[2..<end].prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
        if final == UInt8(ascii: "~"), parameter == "200" { pasted = [] }
        return (Self.key(final: final, parameter: parameter), end + 1)
    }

    private static func key(final: UInt8, parameter: String) -> Key? {
        switch Character(Unicode.Scalar(final)) {
        case "A": .up
        case "B": .down
        case "C": .right
        case "D": .left
        case "H": .home
        case "F": .end
        case "Z": .backTab
        case "M": .enter
        case "~": ["1": .home, "7": .home, "3": .delete, "4": .end, "8": .end, "5": .pageUp, "6": .pageDown][parameter]
        default: nil
        }
    }

    private mutating func continuedPaste() -> (Key?, Int)? {
        let end: [UInt8] = [Self.escape] + Array("[201~".utf8)
        // Takes all bytes up to a possible end of the paste.
        guard let start = bytes.firstIndex(of: Self.escape) else {
            pasted? += bytes
            return (nil, bytes.count)
        }
        pasted? += bytes[..<start]
        let rest = bytes[start...]
        if rest.starts(with: end) {
            // Terminals send a carriage return for the end of a line.
            let text = String(decoding: pasted ?? [], as: UTF8.self).replacing("\r\n", with: "\n")
                .replacing("\r", with: "\n")
            pasted = nil
            return (.paste(text), start + end.count)
        }
        if end.starts(with: rest) {
            bytes.removeFirst(start)
            return nil
        }
        pasted?.append(Self.escape)
        return (nil, start + 1)
    }
}
