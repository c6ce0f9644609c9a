import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsPropertyLists

extension FileFormat {
    /// The format of a file, by its content, whatever its name. The extension tells the format of a file that is
    /// missing, empty, unreadable or of another kind.
    ///
    /// - Parameter path: absolute.
    static func recognized(atPath path: String) -> FileFormat {
        let named = ExportFormat(extensionOf: path)
        func read(limit: Int) -> Data {
            FileKind(of: path) == .file ? (try? ExportFile.read(path, limit: limit)) ?? Data() : Data()
        }
        let bytes = read(limit: 1 << 12)
        if bytes.withUnsafeBytes([FileFormat].propertyLists.recognizing) != nil { return .binary }
        guard named == .json || bytes.withUnsafeBytes(looksLikeJSON) else {
            return named.map(FileFormat.init) ?? .binary
        }
        // Text in brackets in a property-list file is in the OpenStep format, unless it is JSON with a member.
        guard named == .binary || isOfStrings(path) else { return .json }
        let value = try? ExportFormat.value(ofJSON: read(limit: PropertyListLimits.fileBytes))
        return value == nil || value?.dictionary?.isEmpty == true ? .binary : .json
    }

    init(_ format: ExportFormat) {
        self = format == .json ? .json : format == .xml ? .xml : .binary
    }

    /// Whether bytes begin with a bracket or a comment of JSON.
    private static func looksLikeJSON(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if let bracket = ForeignText.bracket(of: bytes) { return bracket != "(" }
        let text = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
            .drop { $0 == 0x20 || (9...13).contains($0) }
        return ["//", "/*"].contains { text.starts(with: $0.utf8) }
    }

    private static func isOfStrings(_ path: String) -> Bool { path.utf8.suffix(8).elementsEqual(".strings".utf8) }

    /// Whether a file that is neither a property list nor JSON is in the OpenStep format: `{ a = 1; }`, `{ }`, or a file
    /// of strings.
    ///
    /// - Parameter path: absolute.
    static func isOpenStep(atPath path: String) -> Bool {
        let text = (try? ExportFile.read(path, limit: 1 << 12)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return isOfStrings(path) || text.prefixMatch(of: /\s*\{\s*(\}|("[^"]*"|[^\s"{}]+)\s*=)/) != nil
    }
}

extension ExportFormat {
    /// The format that the extension of a file name tells; nil if it tells none.
    init?(extensionOf path: String) {
        let formats: [(String, ExportFormat)] = [
            (".json", .json), (".jsonc", .json), (".xml", .xml), (".plist", .binary),
        ]
        let name = path.lowercased()
        guard let format = formats.first(where: { name.utf8.suffix($0.0.utf8.count).elementsEqual($0.0.utf8) }) else {
            return nil
        }
        self = format.1
    }

    /// The format that the user names.
    static func named(_ name: String) throws(UsageError) -> ExportFormat {
        guard let format = ExportFormat(rawValue: name) else {
            throw UsageError("unknown format `\(ShownText.key(name))`; formats are json, xml, binary")
        }
        return format
    }
}
