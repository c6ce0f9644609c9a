package import Foundation
import PrefsFileEngine

/// The rules for root keys, suite names and file URLs.
package enum NameVetting {
    /// A suite name becomes a file name, to which the engine adds extensions; a file name has at most 255 bytes.
    private static let longestSuite = 200
    private static let longestRoot = 1_024

    /// - Throws: `PrefsError.invalidName`.
    package static func checkRoot(_ name: String) throws(PrefsError) {
        try check(name, "root key", longest: longestRoot)
    }

    /// Why a text cannot be the key of a value; nil if it can.
    package static func flaw(ofKey key: String) -> String? {
        if key.isEmpty { return "it is empty" }
        return key.utf8.contains(0) ? "it contains a NUL" : nil
    }

    /// - Throws: `PrefsError.invalidName`.
    package static func checkSuite(_ name: String) throws(PrefsError) {
        try checkFileName(name, "suite name")
    }

    /// The URL of a file in the configuration folder of a program.
    ///
    /// - Throws: `PrefsError.invalidName`; `PrefsError.unreadable` without a home folder.
    package static func url(ofFile file: String, ofProgram program: String) throws(PrefsError) -> URL {
        try checkFileName(program, "name of a program")
        do {
            let folder = try ConfigurationFolder.path.get()
            return URL(filePath: "\(folder)/\(program)/\(file)", directoryHint: .notDirectory)
        } catch {
            throw .unreadable(error)
        }
    }

    private static func checkFileName(_ name: String, _ kind: String) throws(PrefsError) {
        try check(name, kind, longest: longestSuite)
        if name.utf8.contains(UInt8(ascii: "/")) {
            throw .invalidName(name: name, reason: "is not a valid \(kind): it contains a /")
        }
        if name.utf8.first == UInt8(ascii: ".") {
            throw .invalidName(name: name, reason: "is not a valid \(kind): it begins with a dot")
        }
    }

    private static let relative = "is relative, and the working folder is unknown"

    /// The path of a file URL.
    ///
    /// - Throws: `PrefsError.invalidName` for a URL that names no file.
    package static func path(of url: URL) throws(PrefsError) -> String {
        guard url.isFileURL else {
            // Foundation omits the scheme if it cannot make a path absolute.
            let reason = url.scheme == nil ? relative : "is not a file URL"
            throw .invalidName(name: url.absoluteString, reason: reason)
        }
        let path = url.absoluteURL.path(percentEncoded: false)
        if path.utf8.contains(0) { throw .invalidName(name: path, reason: "is not a valid path: it contains a NUL") }
        if let first = path.utf8.first, first != UInt8(ascii: "/") {
            throw .invalidName(name: path, reason: relative)
        }
        if path.isEmpty || path.utf8.last == UInt8(ascii: "/") {
            throw .invalidName(name: path, reason: "is not the path of a file")
        }
        return path
    }

    private static func check(_ name: String, _ kind: String, longest: Int) throws(PrefsError) {
        var text = name
        if let flaw = text.withUTF8({ flaw(in: UnsafeRawBufferPointer($0), longest: longest) }) {
            throw .invalidName(name: name, reason: "is not a valid \(kind): \(flaw)")
        }
    }

    /// Finds a flaw in the bytes of a name. Called for each access, so it makes no copy.
    private static func flaw(in bytes: UnsafeRawBufferPointer, longest: Int) -> String? {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return "it is empty" }
        if bytes.count > longest { return "it is longer than \(longest) bytes" }
        if memchr(start, 0, bytes.count) != nil { return "it contains a NUL" }
        if bytes[0] == 0xEF, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return "it begins with U+FEFF" }
        return nil
    }
}
