import Foundation
import PersistentPreferences
import PrefsDocuments
import PrefsFileEngine
import PrefsJSON
import PrefsPropertyLists

/// The place of values: a UserDefaults domain, a file, a stream or a store with a URL.
enum Target: Equatable {
    case suite(String)
    /// A path. The format is the one that the user names; nil if the content and the extension tell it.
    case file(String, ExportFormat? = nil)
    /// `-` for the standard input, or the path of an open descriptor, as of `<(…)`. It is read once.
    case stream(String, ExportFormat? = nil)
    case url(String)

    /// A word with `://` is a URL. A file that exists is that file, whatever its name. Otherwise a word is a
    /// path if it contains a slash, if its extension names a format, or if a format is given. A path to nothing beside a
    /// file of that name with `.plist` is that file. Compares bytes, because a combining mark may follow the slash.
    ///
    /// - Parameter format: the format that the user names.
    init(_ word: String, as format: ExportFormat? = nil) {
        let path = word.absolutePath
        if word.contains("://") {
            self = .url(word)
        } else if word == "-" || ExportFile.openDescriptor(path) != nil {
            self = .stream(word, format)
        } else if Self.isPath(word) || format != nil || FileKind(of: path) == .file {
            // As `defaults`, which takes the path without the extension.
            let isShort =
                format == nil && ExportFormat(extensionOf: word) == nil && FileKind(of: path) == nil
                && FileKind(of: path + ".plist") == .file
            self = .file(isShort ? word + ".plist" : word, format)
        } else {
            self = .suite(word)
        }
    }

    /// Whether a word can only be a path: it contains a slash, or its extension names a format.
    private static func isPath(_ word: String) -> Bool {
        word.utf8.contains(UInt8(ascii: "/")) || ExportFormat(extensionOf: word) != nil
    }

    /// Whether a word that may be no place names a file or an open descriptor.
    ///
    /// - Parameter exists: whether it must exist.
    static func isFile(_ word: String, exists: Bool) -> Bool {
        switch Target(word) {
        case .file: !exists || FileKind(of: word.absolutePath) == .file
        case .stream: word != "-"
        case .suite, .url: false
        }
    }

    /// The word that names the place on a command line.
    var word: String {
        switch self {
        case .suite(let word), .file(let word, _), .stream(let word, _), .url(let word): word
        }
    }

    /// A store for the program's settings, with the layout of the program's own file.
    ///
    /// - Throws: why there is no such store.
    func store(of program: Program) throws -> PrefsStore {
        let layout: DomainLayout = program.hasFlatLayout ? .flat : .roots
        switch self {
        case .suite(let name): return .userDefaults(suite: name, layout: layout)
        case .file(let path, _):
            return .propertyList(url: url ?? URL(filePath: path), format: format, layout: layout)
        case .stream: throw UsageError("expected a file, found \(name)")
        case .url(let url):
            guard let make = program.storeOfURL else {
                throw UsageError("expected a file or a UserDefaults domain, found the URL \(name)")
            }
            do throws(PrefsError) { return try make(url) } catch { throw UsageError("\(error)") }
        }
    }

    var url: URL? {
        guard case .file(let word, _) = self else { return nil }
        let path = word.absolutePath
        return URL(filePath: path, directoryHint: path.utf8.last == UInt8(ascii: "/") ? .isDirectory : .notDirectory)
    }

    /// The name of the UserDefaults domain; nil for other places.
    var suite: String? {
        if case .suite(let name) = self { name } else { nil }
    }

    /// Opens all entries.
    ///
    /// - Parameter isForced: whether writes quarantine and replace a file that is not ours.
    /// - Throws: `PrefsError`; `UsageError` for a store with a URL, which has only roots.
    func domain(isForced: Bool = false) throws -> Roots {
        switch self {
        case .suite(let name): try Roots.ofSuite(name)
        case .file(let path, _): try Self.domain(of: url ?? URL(filePath: path), format, isForced: isForced)
        case .stream: throw UsageError("expected a file, found \(name)")
        case .url: throw UsageError("\(name) has roots and no file; give --root NAME")
        }
    }

    /// - Parameter format: that of the file. It is asked for once, because it may take a look at the file.
    private static func domain(of url: URL, _ format: FileFormat, isForced: Bool) throws -> Roots {
        try Roots(url: url, format: format.isJSON ? .plainJSON : format, isForced: isForced)
    }

    /// True for a store with a URL.
    var hasRootsOnly: Bool { if case .url = self { true } else { false } }

    /// The format of the file: the one that the user names, otherwise that of its content, otherwise that of its
    /// extension.
    var format: FileFormat {
        switch self {
        case .file(_, let format?): FileFormat(format)
        case .file(let path, nil): FileFormat.recognized(atPath: path.absolutePath)
        case .suite, .stream, .url: .binary
        }
    }

    /// True for a file that is read as JSON.
    var isJSON: Bool { format.isJSON }

    /// The absolute path of the file; nil for a place that is not a file of this package.
    func path() throws -> String? {
        switch self {
        case .suite(let name): try SidecarPaths.path(ofSuite: name)
        case .file: url?.absoluteURL.path(percentEncoded: false)
        case .stream, .url: nil
        }
    }

    /// Rejects a new file in a folder that does not exist, or whose format nothing tells, so that a mistyped path
    /// creates nothing.
    ///
    /// - Throws: `CommandError`.
    func checkCreation() throws(CommandError) {
        guard case .file(let word, let format) = self else { return }
        guard let file = try? SidecarPaths(path: word.absolutePath), FileMetadata(file.file) == nil else { return }
        // The write tells why it fails in a place that is not a folder.
        if FileKind(of: file.folder) == nil {
            throw CommandError("the folder \(file.folder) does not exist; nothing was created")
        }
        guard format == nil, ExportFormat(extensionOf: word) == nil else { return }
        throw CommandError("\(word) does not exist; --format json, xml or binary creates it")
    }

    /// The name for messages. A URL is without user and password.
    var name: String {
        switch self {
        case .suite(let name): "UserDefaults suite \"\(name)\""
        case .file: isJSON ? "JSON file" : "property-list file"
        case .stream(let word, _): word == "-" ? "standard input" : word
        case .url(let url): url.replacing(/\/\/[^\/]*@/) { _ in "//" }
        }
    }
}

/// What a path leads to, through links.
enum FileKind {
    case file, other

    /// nil if the path leads to nothing. A link that leads nowhere counts as a file, because a write creates its target.
    init?(of path: String) {
        if let there = Self.status(of: path, followsLinks: true) {
            self = there.kind == .file ? .file : .other
        } else if Self.isLinkToNothing(path) {
            self = .file
        } else {
            return nil
        }
    }

    static func isLinkToNothing(_ path: String) -> Bool {
        status(of: path, followsLinks: true) == nil && status(of: path, followsLinks: false) != nil
    }

    private static func status(of path: String, followsLinks: Bool) -> FileStatus? {
        (try? SystemCalls.real.status(ofPath: path, followsLinks: followsLinks)) ?? nil
    }
}

extension String {
    /// The absolute path; a relative path starts at the working folder. If the working folder was removed, the path
    /// stays relative, and the library rejects it.
    var absolutePath: String {
        guard utf8.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return self }
        defer { free(folder) }
        return String(cString: folder) + "/" + self
    }
}

/// The values of a stream. They are in memory, and a write prints the whole content in its former format.
struct StreamContent {
    /// The store of the values.
    let store: PrefsStore
    private let word: String
    private let format: FileFormat
    let bytes: Data
    private let content: [String: StoredValue]

    /// - Parameters:
    ///   - word: `-`, or the path of a pipe.
    ///   - format: the format of empty bytes.
    private init(_ word: String, _ bytes: Data, _ format: FileFormat?) throws(PropertyListFault) {
        let isNew = bytes.isEmpty && format != nil
        let decoded = isNew ? nil : try ContentCoder.decode(bytes, in: [.binary, .xml, .plainJSON])
        (self.format, content) = (decoded?.format ?? format ?? .plainJSON, decoded?.content ?? [:])
        (self.word, self.bytes) = (word, bytes)
        store = .memory(content, format: self.format)
    }

    /// Reads a stream to its end.
    ///
    /// - Returns: nil for a target of another kind.
    /// - Throws: `CommandError`; `StorageFailure` if the stream cannot be read.
    static func read(_ target: Target, in program: Program) throws -> StreamContent? {
        guard case .stream(let word, let format) = target else { return nil }
        let bytes = try ExportFile.read(word == "-" ? nil : word.absolutePath, orInput: program.context.input)
        do throws(PropertyListFault) { return try StreamContent(word, bytes, format.map { FileFormat($0) }) } catch {
            throw CommandError("\(target.name)\("\(error)".hasPrefix("is ") ? "" : ":") \(error)")
        }
    }

    var isJSON: Bool { format.isJSON }

    /// - Throws: `UsageError` if the stream has no output.
    func checkWriting() throws(UsageError) {
        if word != "-" { throw UsageError("\(word) is a pipe; only `-f -` can be written, to the standard output") }
    }

    /// The whole content after a write.
    func output() throws -> Outcome {
        let result = try store.roots.entries().entries ?? [:]
        let isNew = bytes.isEmpty
        do throws(PropertyListFailure) {
            let written = try PropertyListCoder.encode(
                .dictionary(result), as: format, replacing: isNew ? nil : .dictionary(content),
                written: isNew ? nil : bytes)
            return Outcome(bytes: written, as: OutputFormat(format))
        } catch {
            throw CommandError("\(error.path): \(error.reason)")
        }
    }
}

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
        self = format == .json ? .json : format == .xml ? .plainXML : .binary
    }

    /// Whether bytes begin with a bracket or a comment of JSON.
    private static func looksLikeJSON(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if let bracket = ForeignText.bracket(of: bytes) { return bracket != "(" }
        let text = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
            .drop { $0 == 0x20 || (9...13).contains($0) }
        return ["//", "/*"].contains { text.starts(with: $0.utf8) }
    }

    static let openStepRemedy = "; `plutil -convert xml1` of macOS or of a Swift toolchain converts them"

    private static func isOfStrings(_ path: String) -> Bool { path.utf8.suffix(8).elementsEqual(".strings".utf8) }

    /// Whether a file that is neither a property list nor JSON is in the OpenStep format: `{ a = 1; }`, `{ }`, or a file
    /// of strings.
    ///
    /// - Parameter path: absolute.
    static func isOpenStep(atPath path: String) -> Bool {
        let text = (try? ExportFile.read(path, limit: 1 << 12)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return isOfStrings(path)
            || text.prefixMatch(of: /(\s*\/\/[^\n]*\n)*\s*\{\s*(\}|("[^"]*"|[^\s"{}]+)\s*=)/) != nil
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
        guard let format = allCases.first(where: { "\($0)" == name }) else {
            throw UsageError("unknown format `\(ShownText.key(name))`; formats are json, xml, binary")
        }
        return format
    }
}
