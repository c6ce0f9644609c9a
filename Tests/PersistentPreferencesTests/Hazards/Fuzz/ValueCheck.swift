import Foundation
import PropertyListSupport

@testable import PersistentPreferences
@testable import PrefsJSON

/// Checks any value that a program may store: it is rejected with path and reason, or is stored and read exactly, in
/// every format.
enum ValueCheck {
    private static let key = "key"

    /// Checks the value that the input describes (`ValueGenerator`).
    /// - Returns: whether it was accepted.
    @discardableResult
    static func run(_ input: Data) throws -> Bool {
        var generator = ValueGenerator(input)
        let generated = generator.make()
        defer { generator.takeBack() }
        let copy: Any
        switch PropertyListVetter.storedObject(of: generated.value) {
        case .failure(let refusal):
            try checkFailures(refusal.failures(forKey: key), of: key)
            try demand(!generated.mustBeAccepted, "refused: \(refusal.failure(forKey: key))")
            return false
        case .success(let value):
            copy = value
        }
        guard let expected = generated.expected, !generated.mustBeRefused else {
            throw FuzzViolation("accepted what no property list can hold, as \(exactForm(copy).prefix(500))")
        }
        try demand(
            RootChange(from: [key: StoredValue(of: copy)], shownAs: [:], to: [key: generated.value]).isEmpty,
            "a change of the value to itself")
        // Later changes of the caller's objects do not change the copy.
        generator.takeBack()
        try demandSame(expected, copy, "vetting made another value of it")
        for format in [FileFormat].all { try checkWriting(StoredValue(of: copy), as: format) }
        let exported = try ExportFormat.json.data(of: [key: StoredValue(of: copy)])
        try demandSame([key: copy], ExportFormat.values(of: exported).objects, "another value than in JSON")
        return true
    }

    /// Writes the value as in a file, and reads it.
    private static func checkWriting(_ value: StoredValue, as format: FileFormat) throws {
        let content: [String: StoredValue] = ["root": .dictionary([key: value])]
        let storable = format.coder.storable(content)
        let bytes: Data
        do {
            bytes = try PropertyListCoder.encode(.dictionary(storable), as: format)
        } catch {
            try demand(error.isExpected(in: format), "cannot be written as \(format): \(error)")
            return
        }
        let file = try ContentCoder.decode(bytes, in: .propertyLists + [format])
        try demand(file.format == format, "written as \(format), read as \(file.format)")
        // The next load finds the state that a commit publishes.
        try demandSame(storable.objects, file.content.objects, "another value when written as \(format)")
        try demandSame(
            content.objects, file.content.objects, isInXML: format == .plainXML, "another value than in \(format)")
    }
}
