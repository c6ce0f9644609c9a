import Foundation

extension XMLPropertyListReader {
    mutating func readBoolean(
        _ name: StaticString, _ isEmpty: Bool, at start: Int
    ) throws(DecodingFailure) -> StoredValue {
        if !isEmpty {
            let text = try content(of: name)
            guard text.utf8.allSatisfy({ $0 == 0x20 || (9...13).contains($0) }) else {
                throw scanner.failure("<\(name)> has content", at: start)
            }
        }
        return .bool(name.utf8CodeUnitCount == 4)
    }

    mutating func scalar(
        _ name: StaticString, _ isEmpty: Bool, at start: Int,
        _ parse: (String) -> StoredValue?
    ) throws(DecodingFailure) -> StoredValue {
        let text = isEmpty ? "" : try content(of: name)
        guard let value = parse(XMLPropertyListScalar.trimmed(text)) else {
            throw scanner.failure(XMLPropertyListScalar.reason(name), at: start)
        }
        return value
    }

    /// The text of an element whose start tag was read. The element must hold only text.
    mutating func content(of name: StaticString) throws(DecodingFailure) -> String {
        let text = try scanner.readText()
        try expectEnd(name)
        return text
    }

    mutating func expectEnd(_ name: StaticString) throws(DecodingFailure) {
        let start = scanner.position
        switch try scanner.nextTag() {
        case .end(let found) where scanner.isName(found, name): return
        case .end(let found): throw mismatch("\(name)", found)
        case .start(let found, _):
            throw scanner.failure("expected </\(name)>, found <\(scanner.text(found))>", at: found.lowerBound - 1)
        case .endOfDocument: throw scanner.failure("<\(name)> is not closed", at: start)
        }
    }

    func mismatch(_ name: String, _ found: Range<Int>) -> DecodingFailure {
        scanner.failure("expected </\(name)>, found </\(scanner.text(found))>", at: found.lowerBound - 2)
    }
}
