package import Foundation

/// A text of any UTF-16 units. Foundation's own strings on Linux replace an unpaired surrogate by U+FFFD.
package final class UnitsText: NSString {
    private let units: [UInt16]
    private var reportedLength: Int?

    /// - Parameter reportedLength: a false length.
    package init(_ units: [UInt16], reportedLength: Int? = nil) {
        self.units = units
        self.reportedLength = reportedLength
        super.init(characters: [], length: 0)
    }

    package override var length: Int { reportedLength ?? units.count }

    package override func character(at index: Int) -> unichar { units[index] }

    package required init?(coder: NSCoder) {
        return nil
    }

    #if !canImport(ObjectiveC)
        package required init(string: String) {
            units = Array(string.utf16)
            super.init(characters: [], length: 0)
        }

        package required convenience init(unicodeScalarLiteral value: StaticString) {
            self.init(stringLiteral: value)
        }

        package required convenience init(extendedGraphemeClusterLiteral value: StaticString) {
            self.init(stringLiteral: value)
        }

        package required init(stringLiteral value: StaticString) {
            units = Array("\(value)".utf16)
            super.init(characters: [], length: 0)
        }
    #endif
}
