import Foundation
import PersistentPreferences
import PrefsJSON

/// The place of values: a UserDefaults domain, a property-list file, a JSON file, which has the extension `.json`, or a
/// store with a URL.
enum Target: Equatable {
    case suite(String)
    case file(String)
    case url(String)

    /// A word with `://` is a URL. A word that contains a slash or ends with `.plist` or `.json` is a path. Compares
    /// bytes, because a combining mark may follow the slash.
    init(_ word: String) {
        let isPath =
            word.utf8.contains(UInt8(ascii: "/")) || word.utf8.suffix(6).elementsEqual(".plist".utf8)
            || Self.format(of: word) == .json
        self = word.contains("://") ? .url(word) : isPath ? .file(word) : .suite(word)
    }

    /// The format of a new file, by its extension. Only a file with the extension `.json` is read as JSON.
    static func format(of path: String) -> FileFormat {
        path.utf8.suffix(5).elementsEqual(".json".utf8) ? .json : .binary
    }

    /// The word that names the place on a command line.
    var word: String {
        switch self {
        case .suite(let word), .file(let word), .url(let word): word
        }
    }

    /// A store for the program's settings, with the layout of the program's own file.
    ///
    /// - Throws: why there is no such store.
    func store(of program: Program) throws -> any PrefsStore {
        let layout: DomainLayout = program.hasFlatLayout ? .flat : .roots
        switch self {
        case .suite(let name): return UserDefaultsStore(suiteName: name, layout: layout)
        case .file(let path):
            return PropertyListFileStore(
                url: url ?? URL(filePath: path), format: Self.format(of: path), layout: layout)
        case .url(let url):
            guard let make = program.storeOfURL else {
                throw UsageError("expected a file or a UserDefaults domain, found the URL \(name)")
            }
            do throws(PrefsError) { return try make(url) } catch { throw UsageError("\(error)") }
        }
    }

    var url: URL? {
        guard case .file(let word) = self else { return nil }
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
        case .file(let path):
            try Roots(url: url ?? URL(filePath: path), format: Self.format(of: path), isForced: isForced)
        case .url: throw UsageError("\(name) has roots and no file; give --root NAME")
        }
    }

    /// True for a store with a URL.
    var hasRootsOnly: Bool { if case .url = self { true } else { false } }

    /// True for a file that is read as JSON.
    var isJSON: Bool {
        if case .file(let path) = self { Self.format(of: path) == .json } else { false }
    }

    /// The absolute path of the file; nil for a place that is not a file of this package.
    func path() throws -> String? {
        switch self {
        case .suite(let name): try SidecarPaths.path(ofSuite: name)
        case .file: url?.absoluteURL.path(percentEncoded: false)
        case .url: nil
        }
    }

    /// The name for messages. A URL is without user and password.
    var name: String {
        switch self {
        case .suite(let name): "UserDefaults suite \"\(name)\""
        case .file(let path): Self.format(of: path) == .json ? "JSON file" : "property-list file"
        case .url(let url): url.replacing(/\/\/[^\/]*@/) { _ in "//" }
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
