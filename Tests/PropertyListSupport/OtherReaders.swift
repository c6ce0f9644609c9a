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
    package static let jshon = program("jshon")
    /// Perl's printer of JSON.
    package static let jsonPP = program("json_pp")
    /// Node.js with node-json5, where Debian installs it.
    package static let json5 = program("node") { succeeds($0, ["-e", "\(findJSON5) require('json5')"]) }
    package static let findJSON5 = "module.paths.push('/usr/share/nodejs');"
    /// libplist's converter.
    package static let plistutil = program("plistutil")
    /// GNUstep's converter. The toolchain of Swift has a program of this name, too, but no `plget` beside it.
    package static let gnustep = program("plutil") {
        FileManager.default.isExecutableFile(atPath: $0.deletingLastPathComponent().appending(path: "plget").path)
    }
    package static let biplist = python(that: "import biplist")
    /// Python with the C interface of libplist.
    package static let libplist = python(that: "import ctypes; ctypes.CDLL('libplist-2.0.so.3')")
    package static let ruby = program("ruby") { succeeds($0, ["-e", "require 'cfpropertylist'"]) }

    /// The first program of that name that the closure accepts, in the folder of the system or on the PATH.
    package static func program(_ name: String, where isRight: (URL) -> Bool = { _ in true }) -> URL? {
        Child.systemFirstPath.split(separator: ":")
            .map { URL(filePath: "\($0)/\(name)", directoryHint: .notDirectory) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) && isRight($0) }
    }

    private static func python(that command: String) -> URL? {
        program("python3") { succeeds($0, ["-c", command]) }
    }

    private static func succeeds(_ program: URL, _ arguments: [String]) -> Bool {
        (try? run(program, arguments, on: Data())) != nil
    }

    /// Whether the program is installed. If not, the summary names the skipped test.
    package static func has(_ program: URL?, _ name: String) -> Bool {
        Hazard.canRun("interop: \(name)", if: program != nil, else: "it is not installed")
    }

    /// Runs a program on an input and returns its output.
    package static func run(_ program: URL?, _ arguments: [String], on input: Data) throws -> Data {
        let folder = try TemporaryFolder()
        try input.write(to: folder.file("in"))
        let result = try Child(
            URL(filePath: "/bin/sh"),
            ["-c", #"cd "$0" && exec "$@" <in >out"#, folder.path, program?.path ?? ""] + arguments,
            environment: ProcessInfo.processInfo.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
        ).wait()
        guard result.code == 0 else { throw FuzzViolation("\(program?.lastPathComponent ?? ""): \(result.errors)") }
        return try Data(contentsOf: folder.file("out"))
    }

    /// Gives each list to plistlib, all in one process.
    package static func plistlib(_ lists: [Data]) throws -> [Reading] { try readings(python, "plistlib", lists) }

    /// Gives each list to a library, all in one process.
    package static func readings(_ python: URL?, _ library: String, _ lists: [Data]) throws -> [Reading] {
        var input = Data()
        for list in lists { input += withUnsafeBytes(of: Int64(list.count).bigEndian) { Data($0) } + list }
        var output = try run(python, [script("py"), library], on: input)[...]
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

    /// The form that CFPropertyList reads.
    package static func rubyForm(_ list: Data) throws -> String {
        String(decoding: try run(ruby, [script("rb")], on: list), as: UTF8.self)
    }

    private static func script(_ language: String) throws -> String {
        guard let script = Bundle.module.url(forResource: "plain_form", withExtension: language) else {
            throw CocoaError(.fileNoSuchFile)
        }
        return script.path
    }

    /// Converts a list with GNUstep.
    package static func gnustep(_ list: Data, to format: FileFormat) throws -> Data {
        try run(gnustep, ["-convert", format == .plainXML ? "xml1" : "binary1", "-o", "-", "-"], on: list)
    }

    /// Converts a list with libplist.
    package static func libplist(_ list: Data, to format: FileFormat) throws -> Data {
        try run(plistutil, ["-f", format == .plainXML ? "xml" : "bin"], on: list)
    }

    /// The form of a value, equal to the form that the script prints.
    package static func form(_ object: Any) -> String { form(StoredValue(of: object)) }

    package static func form(_ value: StoredValue) -> String {
        switch value {
        case .bool(let bool): return bool ? "true" : "false"
        case .integer(let integer): return "i\(integer)"
        case .unsigned(let integer): return "i\(integer)"
        case .real(let number): return number.isNaN ? "nan" : "f" + hexadecimal(number.bitPattern, 16)
        case .decimal: return form(value.plain)
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
