import Foundation
import PropertyListSupport

@testable import PrefsFileEngine
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// Checks any bytes as a file: they are rejected with a reason, or are a property list that can be vetted, written and
/// read again without a change.
enum BytesCheck {
    /// Checks an input of the fuzzer: a file, or after a byte 0 the objects of a binary one (`AssembledList`).
    /// - Returns: whether it was accepted.
    @discardableResult
    static func run(_ input: Data) throws -> Bool {
        try checkJSON(input)
        let isFile = try runFile(input)
        guard let assembled = AssembledList.file(from: input) else { return isFile }
        return try runFile(assembled)
    }

    /// Checks the bytes as an import.
    private static func checkJSON(_ bytes: Data) throws {
        guard let value = try? JSONReader.value(of: bytes),
            let copy = try? PropertyListVetter.value(of: value.object, forKey: "")
        else {
            return
        }
        try demandSame(value.object, copy.object, "vetting made another value of JSON")
        let whole = StoredValue.dictionary(["key": copy])
        let exported = try JSONWriter.data(of: whole)
        try demandSame(whole.object, JSONReader.value(of: exported).object, "another value when written as JSON")
        try demand(PropertyListCoder.encode(whole, as: .json) == exported, "other JSON in a file")
    }

    private static func runFile(_ bytes: Data) throws -> Bool {
        let decoded: DecodedPropertyList
        do {
            decoded = try PropertyListCoder.decode(bytes)
        } catch {
            try demand(!error.reason.isEmpty, "refused without a reason")
            try XMLJudge.checkRejected(bytes, error)
            return false
        }
        try XMLJudge.checkAccepted(bytes, decoded)
        try checkTopLevel(of: bytes, decoded.value.object)
        try checkVetting(decoded.value)
        for format in [FileFormat].all {
            try checkWriting(decoded.value, as: format, isItsOwn: format == decoded.format)
        }
        return true
    }

    private static func checkTopLevel(of bytes: Data, _ value: Any) throws {
        do {
            let content = try PropertyListFile.decode(bytes).content
            try demand(type(of: value) == [String: Any].self, "a \(type(of: value)) was read as a dictionary")
            try demandSame(value, content.objects, "the content of the file is another value")
        } catch let flaw as DecodingFailure {
            try demand(type(of: value) != [String: Any].self, "a dictionary was refused: \(flaw.reason)")
        }
    }

    /// Checks the vetter, whose limits are narrower than the limits of a file. There is no other difference.
    private static func checkVetting(_ value: StoredValue) throws {
        let isAccepted = (try? PropertyListVetter.check(value, forKey: "key")) != nil
        switch PropertyListVetter.storedObject(of: value.object, forKey: "key") {
        case .success(let copy):
            try demand(isAccepted, "refused as a value, and accepted as an object")
            try demandSame(value.object, copy, "vetting made another value of it")
        case .failure(let refusal):
            try demand(!isAccepted, "accepted as a value, and refused as an object")
            try checkFailures(refusal.failures, of: "key")
            for failure in refusal.failures {
                try demand(
                    narrowerLimits.contains { failure.reason.hasPrefix($0) }, "refused by the vetter: \(failure)")
            }
        }
    }

    private static let narrowerLimits = [
        "nested deeper than 64 levels", "larger than 4 MiB", "a date this far away",
        "a dictionary of a lone number CF$UID", "a reference of a keyed archive cannot be stored",
    ]

    private static func checkWriting(_ value: StoredValue, as format: FileFormat, isItsOwn: Bool) throws {
        let storable = PropertyListCoder.storable(["value": value], as: format)["value"] ?? value
        let bytes: Data
        do {
            bytes = try PropertyListCoder.encode(storable, as: format)
        } catch {
            try demand(error.isExpected(in: format), "cannot be written as \(format): \(error)")
            return
        }
        let again = try PropertyListCoder.decode(bytes, as: .all)
        try demand(again.format == format, "written as \(format), read as \(again.format)")
        try demandSame(
            value.object, again.value.object, isInXML: format == .xml, "another value when written as \(format)")
        if isItsOwn, format == .xml {
            try demand(PropertyListCoder.encode(again.value, as: .xml) == bytes, "other XML at the second writing")
        }
    }
}
