import Foundation

/// A text of any UTF-16 units; Foundation's own on Linux puts U+FFFD in the place of a surrogate without partner.
final class UnitsText: NSString {
    private let units: [UInt16]
    private var reportedLength: Int?

    /// - Parameter reportedLength: a length that is not true.
    init(_ units: [UInt16], reportedLength: Int? = nil) {
        self.units = units
        self.reportedLength = reportedLength
        super.init(characters: [], length: 0)
    }

    override var length: Int { reportedLength ?? units.count }

    override func character(at index: Int) -> unichar { units[index] }

    required init?(coder: NSCoder) {
        return nil
    }

    #if !canImport(ObjectiveC)
        required init(string: String) {
            units = Array(string.utf16)
            super.init(characters: [], length: 0)
        }

        required convenience init(unicodeScalarLiteral value: StaticString) {
            self.init(stringLiteral: value)
        }

        required convenience init(extendedGraphemeClusterLiteral value: StaticString) {
            self.init(stringLiteral: value)
        }

        required init(stringLiteral value: StaticString) {
            units = Array("\(value)".utf16)
            super.init(characters: [], length: 0)
        }
    #endif
}
