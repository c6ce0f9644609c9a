import Foundation
import PrefsDocuments
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
        try checkDocument(input)
        try checkList(input)
        let isFile = try runFile(input)
        guard let assembled = AssembledList.file(from: input) else { return isFile }
        return try runFile(assembled)
    }

    /// Checks the bytes as an import.
    private static func checkJSON(_ bytes: Data) throws {
        guard let value = try? JSONReader.value(of: bytes),
            let copy = try? PropertyListVetter.value(of: value.object)
        else {
            return
        }
        try demandSame(value.object, copy.object, "vetting made another value of JSON")
        let whole = StoredValue.dictionary(["key": copy])
        let exported = try JSONWriter.data(of: whole)
        try demandSame(whole.object, JSONReader.value(of: exported).object, "another value when written as JSON")
        try demand(PropertyListCoder.encode(whole, as: .json) == exported, "other JSON in a file")
    }

    /// Checks the bytes as a file of a person: an equal value leaves the text as it is, and a random difference of the
    /// value is that of the text.
    private static func checkDocument(_ bytes: Data) throws {
        func read(_ bytes: Data) throws -> StoredValue { try JSONReader.value(of: bytes, limits: .file) }
        func change(_ bytes: Data, _ former: StoredValue, _ new: StoredValue) throws -> Data {
            try JSONText.bytes(changing: bytes, from: former, to: new).joined
        }
        guard let value = try? read(bytes) else { return }
        try demand(change(bytes, value, value) == bytes, "an equal value changed the text")
        var choices = Difference(seed: bytes.reduce(UInt64(bytes.count)) { $0 &* 31 &+ UInt64($1) })
        for _ in 0..<4 {
            let new = choices.changed(value)
            let text = try change(bytes, value, new)
            try demand(read(text) == new, "the changed text has another value")
            try demand(read(change(text, new, value)) == value, "the text that was changed back has another value")
        }
    }

    /// Checks the bytes as an XML property list of a person, as `checkDocument` checks JSON.
    private static func checkList(_ bytes: Data) throws {
        let coder = FileFormat.xml.coder
        func read(_ bytes: Data) throws -> (value: StoredValue, loss: String?) {
            try bytes.withUnsafeBytes { try coder.value(in: $0) }
        }
        func change(_ bytes: Data, _ former: StoredValue, _ new: StoredValue) throws -> Data {
            try coder.bytes(from: new, replacing: former, written: bytes).joined
        }
        guard bytes.withUnsafeBytes(coder.recognizes), let (value, loss) = try? read(bytes), loss == nil else { return }
        try demand(change(bytes, value, value) == bytes, "an equal value changed the text")
        var choices = Difference(seed: bytes.reduce(UInt64(bytes.count)) { $0 &* 31 &+ UInt64($1) })
        for _ in 0..<4 {
            let new = choices.changed(value).plain
            // XML cannot hold what is left if the other members of a dictionary with CF$UID are removed.
            guard !new.isNull, let text = try? change(bytes, value, new) else { continue }
            try demand(read(text).value == new, "the changed text has another value")
            try demand(
                (try? change(text, new, value)).map { try read($0).value == value } ?? true,
                "the text that was changed back has another value")
        }
    }

    /// Random differences.
    private struct Difference {
        var seed: UInt64

        mutating func next(_ limit: UInt64) -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (seed >> 33) % limit
        }

        mutating func changed(_ value: StoredValue) -> StoredValue {
            switch value {
            case .dictionary(var members):
                for key in members.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
                    switch next(6) {
                    case 0: members[key] = nil
                    case 1: members[key] = new()
                    case 2: members[key] = members[key].map { changed($0) }
                    default: break
                    }
                }
                if next(2) == 0 { members["new \(next(3))"] = new() }
                return .dictionary(members)
            case .array(let elements):
                var result: [StoredValue] = []
                for element in elements {
                    switch next(6) {
                    case 0: break
                    case 1: result.append(changed(element))
                    case 2: result += [new(), element]
                    default: result.append(element)
                    }
                }
                if next(2) == 0 { result.append(new()) }
                return .array(result)
            default: return next(2) == 0 ? value : new()
            }
        }

        private mutating func new() -> StoredValue {
            [.integer(Int64(next(10))), .string("// }"), .null, .array([]), .dictionary(["$date": .bool(true)])][
                Int(next(5))]
        }
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
            let content = try ContentCoder.decode(bytes).content
            try demand(type(of: value) == [String: Any].self, "a \(type(of: value)) was read as a dictionary")
            try demandSame(value, content.objects, "the content of the file is another value")
        } catch let flaw as PropertyListFault {
            try demand(type(of: value) != [String: Any].self, "a dictionary was refused: \(flaw.reason)")
        }
    }

    /// Checks the vetter, whose limits are narrower than the limits of a file. There is no other difference.
    private static func checkVetting(_ value: StoredValue) throws {
        // A null alone is no value, so no object stands for it.
        if value.isNull { return }
        let isAccepted = (try? PropertyListVetter.check(value)) != nil
        switch PropertyListVetter.storedObject(of: value.object) {
        case .success(let copy):
            try demand(isAccepted, "refused as a value, and accepted as an object")
            try demandSame(value.object, copy, "vetting made another value of it")
        case .failure(let refusal):
            try demand(!isAccepted, "accepted as a value, and refused as an object")
            let failures = refusal.failures(forKey: "key")
            try checkFailures(failures, of: "key")
            for failure in failures {
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
        let members = format.coder.storable(["value": value])
        // The outermost value of a JSON file is a dictionary, whatever its keys are.
        let isWrapped = format == .json
        let bytes: Data
        do {
            bytes = try PropertyListCoder.encode(
                isWrapped ? .dictionary(members) : members["value"] ?? value, as: format)
        } catch {
            // XML has no null.
            let isExpected = error.isExpected(in: format) || format == .plainXML && value.holdsNull
            try demand(isExpected, "cannot be written as \(format): \(error)")
            return
        }
        let again = try PropertyListCoder.decode(bytes, as: .all)
        try demand(again.format == format, "written as \(format), read as \(again.format)")
        let read = isWrapped ? again.value.dictionary?["value"] ?? .null : again.value
        try demandSame(
            value.object, read.object, isInXML: format == .plainXML, "another value when written as \(format)")
        if isItsOwn, format == .plainXML {
            try demand(PropertyListCoder.encode(again.value, as: .plainXML) == bytes, "other XML at the second writing")
        }
    }
}
