/// The screen of a terminal, drawn from its bytes. Supports the part of ECMA-48 that `prefs edit` and a shell need,
/// without colours.
package struct VirtualScreen {
    /// The number of columns.
    package private(set) var columns: Int
    package private(set) var rows: Int
    /// The cursor, from 0.
    package private(set) var row = 0
    package private(set) var column = 0
    package private(set) var showsCursor = true
    package private(set) var isAlternate = false
    package private(set) var wraps = true
    /// Whether the terminal distinguishes pasted text from keys.
    package private(set) var tellsPastes = false
    /// Whether any text had a colour.
    package private(set) var hasColours = false
    /// How often the whole screen was erased.
    package private(set) var erasures = 0
    /// Sequences that it does not know.
    package private(set) var unknown: [String] = []

    /// The cells. A cell after a wide character is empty.
    private var cells: [[String]]
    private var main: [[String]] = []
    private var pending: [UInt8] = []

    /// A blank screen.
    package init(columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns, rows)
        cells = Self.blank(columns, rows)
    }

    /// Its lines, without the blanks at their ends.
    package var lines: [String] {
        cells.map { line in String(line.joined().reversed().drop { $0 == " " }.reversed()) }
    }

    /// Changes the size of the terminal; a signal notifies the program that draws.
    package mutating func resize(columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns, rows)
        cells = (0..<rows).map { row in
            (0..<columns).map { row < cells.count && $0 < cells[row].count ? cells[row][$0] : " " }
        }
        (row, column) = (min(row, rows - 1), min(column, columns - 1))
    }

    /// Takes the output of the program, in pieces of any size.
    package mutating func feed(_ bytes: some Sequence<UInt8>) {
        pending += bytes
        while !pending.isEmpty, let count = step() { pending.removeFirst(count) }
    }

    private static func blank(_ columns: Int, _ rows: Int) -> [[String]] {
        Array(repeating: Array(repeating: " ", count: columns), count: rows)
    }

    /// The number of bytes that it consumed; nil if it needs more.
    private mutating func step() -> Int? {
        switch pending[0] {
        case 0x1B: return escape()
        case 0x0D: column = 0
        case 0x0A: lineFeed()
        case 0x08: column = max(0, column - 1)
        case ..<0x20: break
        default:
            let length = pending[0] < 0x80 ? 1 : pending[0] < 0xE0 ? 2 : pending[0] < 0xF0 ? 3 : 4
            guard pending.count >= length else { return nil }
            for scalar in String(decoding: pending.prefix(length), as: UTF8.self).unicodeScalars { put(scalar) }
            return length
        }
        return 1
    }

    private mutating func lineFeed() {
        row += 1
        guard row == rows else { return }
        row = rows - 1
        cells = cells.dropFirst() + Self.blank(columns, 1)
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        if [.nonspacingMark, .enclosingMark, .format].contains(scalar.properties.generalCategory) {
            // Adds a combining mark to the character before it.
            let before = column - 1 - (column > 1 && cells[row][column - 1].isEmpty ? 1 : 0)
            if before >= 0 { cells[row][before].unicodeScalars.append(scalar) }
            return
        }
        let width = Self.isWide(scalar) ? 2 : 1
        if column + width > columns {
            if wraps {
                column = 0
                lineFeed()
            } else {
                column = columns - width
            }
        }
        cells[row][column] = String(scalar)
        if width == 2 { cells[row][column + 1] = "" }
        column += width
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0x1F300...0x1F64F, 0x1F680...0x1FAFF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }

    // MARK: - Sequences

    private mutating func escape() -> Int? {
        guard pending.count > 1 else { return nil }
        guard pending[1] == UInt8(ascii: "[") else {
            unknown.append(String(decoding: pending.prefix(2), as: UTF8.self))
            return 2
        }
        guard let end = pending[2...].firstIndex(where: { (0x40...0x7E).contains($0) }) else { return nil }
        let words = String(decoding: pending[2..<end], as: UTF8.self)
        let numbers = words.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
        func number(_ index: Int) -> Int { (index < numbers.count ? numbers[index] : nil) ?? 1 }
        switch Character(Unicode.Scalar(pending[end])) {
        case "H": (row, column) = (min(number(0), rows) - 1, min(number(1), columns) - 1)
        case "J" where words == "2":
            erasures += 1
            cells = Self.blank(columns, rows)
        case "K" where words == "2": cells[row] = Self.blank(columns, 1)[0]
        case "m": hasColours = hasColours || numbers.contains { (30...107).contains($0 ?? 0) }
        case "h" where set(words, true), "l" where set(words, false): break
        default: unknown.append(String(decoding: pending[1...end], as: UTF8.self))
        }
        return end + 1
    }

    private mutating func set(_ mode: String, _ isOn: Bool) -> Bool {
        switch mode {
        case "?7": wraps = isOn
        case "?25": showsCursor = isOn
        case "?2004": tellsPastes = isOn
        case "?1049" where isOn != isAlternate:
            isAlternate = isOn
            if isOn { main = cells }
            cells = isOn ? Self.blank(columns, rows) : main
        case "?1049": break
        default: return false
        }
        return true
    }
}
