package import PrefsPropertyLists

/// The syntax of a text that holds a value, as a cursor over the bytes of the text.
///
/// The text was read before, so the cursor only has to find the places of its parts. A container has items: the members of
/// a dictionary or the elements of a list. `TextPlaces` asks for the parts in their order, and `ChangedText` writes the
/// text anew.
package protocol TextSyntax {
    /// What the syntax has in common in all texts.
    static var form: TextForm { get }

    var bytes: UnsafeRawBufferPointer { get }
    /// The offset of the next part.
    var position: Int { get set }

    // MARK: Places

    /// Moves from the beginning of the text to its value.
    mutating func skipToValue() throws
    /// Skips blanks and comments.
    mutating func skipBlanks() throws
    /// Skips a comment; false if none begins here.
    mutating func skipComment() throws -> Bool
    /// Moves behind the opening of a container; nil if another value begins here.
    mutating func open() throws -> TextOpening?
    /// Moves behind the closing of the container; false if an item begins here.
    mutating func close() throws -> Bool
    /// Moves behind a key.
    mutating func skipKey() throws
    /// Moves from the end of a key to its value.
    mutating func skipToMember() throws
    mutating func skipValue() throws

    /// The key that a range of the text holds.
    func key(in range: Range<Int>) throws -> String
    /// The kind of the value in a range of the text.
    func kind(of range: Range<Int>) -> TextForm.Kind
    /// Whether the value in a range of the text is a container with items.
    func hasItems(_ range: Range<Int>) -> Bool

    // MARK: Writing

    /// Whether a dictionary needs another form than its members have, so that it is always written as a whole.
    ///
    /// - Parameter isTop: whether it is the outermost value.
    func isWhole(_ members: [String: StoredValue], isTop: Bool) -> Bool
    /// The opening and the closing of a container that was an empty element.
    func expanded(_ opening: Range<Int>) -> (opening: [UInt8], closing: [UInt8])
    func bytes(ofKey key: String) throws -> [UInt8]
    /// The text of a value.
    ///
    /// - Parameters:
    ///   - former: the place of the value that it replaces, and that value; nil for a new item.
    ///   - depth: the number of containers around it.
    func bytes(
        of value: StoredValue, inPlaceOf former: (range: Range<Int>, value: StoredValue)?, style: TextStyle, depth: Int
    ) throws -> [UInt8]
}

/// The opening of a container.
package struct TextOpening {
    let isDictionary: Bool
    /// Whether the opening is the whole container, as `<dict/>`.
    let isEmptyElement: Bool

    package init(isDictionary: Bool, isEmptyElement: Bool = false) {
        (self.isDictionary, self.isEmptyElement) = (isDictionary, isEmptyElement)
    }
}

/// What the texts of a syntax have in common.
package struct TextForm: Sendable {
    /// The kinds of values, which people lay out differently: `<true/>` may be on the line of its key.
    package enum Kind: Int, CaseIterable, Sendable {
        case scalar, bool, container

        package init(_ value: StoredValue) {
            switch value {
            case .array, .dictionary, .uid: self = .container
            case .bool: self = .bool
            default: self = .scalar
            }
        }
    }

    /// What is between a key and its value.
    package enum Between: Equatable, Sendable {
        case sameLine([UInt8])
        /// The value has a line of its own, which is indented by these blanks more than the line of the key.
        case newLine([UInt8])
    }

    /// The first byte of each comment, and of nothing else between two parts.
    let commentStart: UInt8
    /// What is between two items; nil if nothing but blanks is.
    let separator: UInt8?
    /// What is between two items on one line, in a text that has no sample.
    let space: [UInt8]
    /// One step of indentation, in a text that has no sample.
    let step: [UInt8]
    /// What is between a key and its value, in a text that has no sample.
    let between: Between
    /// Whether a container that loses its last item is written on one line.
    let joinsEmptied: Bool

    package init(
        commentStart: UInt8, separator: UInt8?, space: [UInt8], step: [UInt8], between: Between, joinsEmptied: Bool
    ) {
        (self.commentStart, self.separator, self.space) = (commentStart, separator, space)
        (self.step, self.between, self.joinsEmptied) = (step, between, joinsEmptied)
    }
}

/// The blanks of a value that is written.
package struct TextStyle {
    package var lineEnd: [UInt8]
    /// One step of indentation.
    package var step: [UInt8]
    /// The indentation of the line in which the value begins.
    package var margin: [UInt8] = []
    /// Whether the value is written on one line.
    package var isOneLine = false
    /// What is between a key and its value, by the kind of the value.
    package var between: [TextForm.Between]

    package func between(_ kind: TextForm.Kind) -> TextForm.Between { between[kind.rawValue] }
}

/// The text has another value than the caller says.
package struct TextMismatch: Error {
    package init() {}
}

extension TextSyntax {
    /// The current byte; nil at the end.
    package var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Skips the rest of the line if it has comments and nothing else. Returns its comments.
    mutating func skipRestOfLine() throws -> Range<Int> {
        let start = position
        var end = start
        line: while let byte = current {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): break line
            case 0x20, 0x09: position += 1
            default:
                guard byte == Self.form.commentStart, try skipComment() else {
                    end = start
                    break line
                }
                end = position
            }
        }
        if current == nil || hasLineEnd(start..<end) { end = start }
        position = end
        return start..<end
    }

    // MARK: - Blanks

    func hasLineEnd(_ range: Range<Int>) -> Bool { bytes[range].contains(UInt8(ascii: "\n")) }

    /// - Parameter blanks: blanks and comments.
    func hasComment(_ blanks: Range<Int>) -> Bool { bytes[blanks].contains(Self.form.commentStart) }

    /// The blanks after the last line end. nil if there is no line end.
    func indentation(of blanks: Range<Int>) -> [UInt8]? {
        guard let end = bytes[blanks].lastIndex(of: UInt8(ascii: "\n")) else { return nil }
        return Array(bytes[(end + 1)..<blanks.upperBound].prefix { $0 == 0x20 || $0 == 0x09 })
    }
}

// MARK: - Lines

extension TextSyntax {
    /// The line in which a key of the dictionary at the top stands, counted from 1; nil if there is no such key. Costs time
    /// linear in the text.
    package func line(ofKey key: String) -> Int? {
        var cursor = self
        func found() throws -> Int? {
            try cursor.skipToValue()
            guard try cursor.open()?.isDictionary == true else { return nil }
            var found: Int?
            while true {
                try cursor.skipBlanks()
                let start = cursor.position
                if try cursor.close() { return found }
                try cursor.skipKey()
                if try self.key(in: start..<cursor.position).hasSameBytes(as: key) { found = start }
                try cursor.skipToMember()
                try cursor.skipValue()
                guard let separator = Self.form.separator else { continue }
                try cursor.skipBlanks()
                if cursor.current == separator { cursor.position += 1 }
            }
        }
        guard let start = try? found() else { return nil }
        return 1 + bytes[..<start].count { $0 == UInt8(ascii: "\n") }
    }
}
