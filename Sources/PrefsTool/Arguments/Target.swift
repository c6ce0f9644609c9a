import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsJSON

/// The place of values: a UserDefaults domain, a file, a stream or a store with a URL.
enum Target: Equatable {
    case suite(String)
    /// A path. The format is the one that the user names; nil if the content and the extension tell it.
    case file(String, FileFormat? = nil)
    /// `-` for the standard input, or the path of an open descriptor, as of `<(…)`. It is read once.
    case stream(String, FileFormat? = nil)
    case url(String)

    /// A word with `://` is a URL. A file that exists is that file, whatever its name. Otherwise a word is a
    /// path if it contains a slash, if its extension names a format, or if a format is given. A path to nothing beside a
    /// file of that name with `.plist` is that file. Compares bytes, because a combining mark may follow the slash.
    ///
    /// - Parameter format: the format that the user names.
    init(_ word: String, as format: FileFormat? = nil) {
        let path = word.absolutePath
        if word.contains("://") {
            self = .url(word)
        } else if word == "-" || ExportFile.openDescriptor(path) != nil {
            self = .stream(word, format)
        } else if Self.isPath(word) || format != nil || FileKind(of: path) == .file {
            // As `defaults`, which takes the path without the extension.
            let isShort =
                format == nil && word.utf8.last != UInt8(ascii: "/") && FileKind(of: path) == nil
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
    func store(of program: Program) throws -> any PrefsStore {
        let layout: DomainLayout = program.hasFlatLayout ? .flat : .roots
        switch self {
        case .suite(let name): return UserDefaultsStore(suiteName: name, layout: layout)
        case .file(let path, _):
            return PropertyListFileStore(url: url ?? URL(filePath: path), format: format, layout: layout)
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
        case .file(let path, _):
            try Roots(url: url ?? URL(filePath: path), format: format, isForced: isForced)
        case .stream: throw UsageError("expected a file, found \(name)")
        case .url: throw UsageError("\(name) has roots and no file; give --root NAME")
        }
    }

    /// True for a store with a URL.
    var hasRootsOnly: Bool { if case .url = self { true } else { false } }

    /// The format of the file: the one that the user names, otherwise that of its content, otherwise that of its
    /// extension.
    var format: FileFormat {
        switch self {
        case .file(_, let format?): format
        case .file(let path, nil): FileFormat.recognized(atPath: path.absolutePath)
        case .suite, .stream, .url: .binary
        }
    }

    /// True for a file that is read as JSON.
    var isJSON: Bool { format == .json }

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
        func status(followsLinks: Bool) -> FileStatus? {
            (try? SystemCalls.real.status(ofPath: path, followsLinks: followsLinks)) ?? nil
        }
        if let there = status(followsLinks: true) {
            self = there.kind == .file ? .file : .other
        } else if status(followsLinks: false) != nil {
            self = .file
        } else {
            return nil
        }
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
