package import Foundation
package import PrefsPropertyLists
import TestSupport

/// Other programs that read and write property lists.
package enum OtherReaders {
    /// The result of plistlib for a list: the form of its value, and the bytes that plistlib writes.
    package struct Reading {
        package let form: String
        package let xml: Data
        package let binary: Data
    }

    package static let python = program("python3")
    package static let jq = program("jq")
    /// libplist's converter.
    package static let plistutil = program("plistutil")

    /// The first program of that name on the PATH that the closure accepts.
    package static func program(_ name: String, where isRight: (URL) -> Bool = { _ in true }) -> URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(filePath: "\($0)/\(name)", directoryHint: .notDirectory) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) && isRight($0) }
    }

    /// Whether the program is installed. If not, the summary names the skipped test.
    package static func has(_ program: URL?, _ name: String) -> Bool {
        Hazard.canRun("interop: \(name)", if: program != nil, else: "it is not installed")
    }

    /// Gives each list to plistlib, all in one process.
    package static func plistlib(_ lists: [Data]) throws -> [Reading] {
        guard let python,
            let script = Bundle.module.url(forResource: "plain_form", withExtension: "py")
        else { throw CocoaError(.fileNoSuchFile) }
        let folder = try TemporaryFolder()
        var input = Data()
        for list in lists { input += withUnsafeBytes(of: Int64(list.count).bigEndian) { Data($0) } + list }
        try input.write(to: folder.file("in"))
        let command = "\"$0\" \"$1\" <\"$2/in\" >\"$2/out\""
        let result = try Child(
            URL(filePath: "/bin/sh"), ["-c", command, python.path, script.path, folder.path],
            environment: ProcessInfo.processInfo.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
        ).wait()
        guard result.code == 0 else { throw FuzzViolation("python3: \(result.errors)") }
        var output = try Data(contentsOf: folder.file("out"))[...]
        func next() -> Data {
            let count = output.prefix(8).reduce(0) { $0 << 8 | Int($1) }
            output = output.dropFirst(8)
            defer { output = output.dropFirst(count) }
            return Data(output.prefix(count))
        }
        return lists.map { _ in
            Reading(form: String(decoding: next(), as: UTF8.self), xml: next(), binary: next())
        }
    }

    /// Converts a list with libplist.
    package static func libplist(_ list: Data, to format: FileFormat) throws -> Data {
        guard let plistutil else { throw CocoaError(.fileNoSuchFile) }
        let folder = try TemporaryFolder()
        try list.write(to: folder.file("in"))
        let arguments = [
            "-i", folder.file("in").path, "-o", folder.file("out").path, "-f", format == .xml ? "xml" : "bin",
        ]
        let result = try Child(plistutil, arguments, environment: [:]).wait()
        guard result.code == 0 else { throw FuzzViolation("plistutil: \(result.errors)") }
        return try Data(contentsOf: folder.file("out"))
    }

    /// The form of a value, equal to the form that the script prints.
    package static func form(_ object: Any) -> String { form(StoredValue(of: object)) }

    package static func form(_ value: StoredValue) -> String {
        switch value {
        case .bool(let bool): return bool ? "true" : "false"
        case .integer(let integer): return "i\(integer)"
        case .unsigned(let integer): return "i\(integer)"
        case .real(let number): return number.isNaN ? "nan" : "f" + hexadecimal(number.bitPattern, 16)
        case .string(let text): return "s" + text.utf8.map { hexadecimal(UInt64($0), 2) }.joined()
        case .data(let data): return "d" + data.map { hexadecimal(UInt64($0), 2) }.joined()
        case .date(let date):
            let microseconds = (date.timeIntervalSinceReferenceDate * 1e6).rounded()
            let seconds = (microseconds / 1e6).rounded(.down)
            let rest = String(Int(microseconds - seconds * 1e6))
            return "t\(Int(seconds))." + String(repeating: "0", count: 6 - rest.count) + rest
        case .uid(let uid): return "u\(uid.value)"
        case .foreign, .null: return "o"
        case .array(let elements): return "[" + elements.map(form).joined(separator: ",") + "]"
        case .dictionary(let members):
            return "{" + members.map { "\(form(.string($0.key))):\(form($0.value))" }.sorted().joined(separator: ",")
                + "}"
        }
    }

    private static func hexadecimal(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: width - digits.count) + digits
    }
}
