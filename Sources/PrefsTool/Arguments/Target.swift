import Foundation
import PersistentPreferences

/// Where preferences are stored: a UserDefaults domain, a property-list file, or a JSON file, which has the extension `.json`.
enum Target: Equatable {
    case suite(String)
    case file(String)

    /// A word that contains a slash or ends with `.plist` or `.json` is a path. Compares bytes, because a combining mark may follow
    /// the slash.
    init(domain word: String) {
        let isPath =
            word.utf8.contains(UInt8(ascii: "/")) || word.utf8.suffix(6).elementsEqual(".plist".utf8)
            || Self.format(of: word) == .json
        self = isPath ? .file(word) : .suite(word)
    }

    /// The format of a new file, by its extension. Only a file with the extension `.json` is read as JSON.
    static func format(of path: String) -> PropertyListFormat {
        path.utf8.suffix(5).elementsEqual(".json".utf8) ? .json : .binary
    }

    /// A store on the file at a path.
    static func store(_ path: String, at url: URL) -> PropertyListFileStore {
        PropertyListFileStore(url: url, format: format(of: path))
    }

    /// The store of the target.
    var store: any PrefsStore {
        switch self {
        case .suite(let name): UserDefaultsStore(suiteName: name)
        case .file(let path): Self.store(path, at: url ?? URL(filePath: path))
        }
    }

    var url: URL? {
        guard case .file(let word) = self else { return nil }
        let path = word.absolutePath
        return URL(filePath: path, directoryHint: path.utf8.last == UInt8(ascii: "/") ? .isDirectory : .notDirectory)
    }

    /// The name of the UserDefaults domain; nil for a file.
    var suite: String? {
        if case .suite(let name) = self { name } else { nil }
    }

    /// Opens the domain.
    ///
    /// - Parameter isForced: whether writes quarantine and replace a file that is not ours.
    /// - Throws: `PrefsError`.
    func domain(isForced: Bool = false) throws -> Roots {
        switch self {
        case .suite(let name): try Roots.ofSuite(name)
        case .file(let path):
            try Roots(
                url: url ?? URL(filePath: path), format: Self.format(of: path), isForced: isForced)
        }
    }

    /// True for a file that is read as JSON.
    var isJSON: Bool {
        if case .file(let path) = self { Self.format(of: path) == .json } else { false }
    }

    /// The absolute path of the file; nil if a system daemon stores the domain.
    func path() throws -> String? {
        switch self {
        case .suite(let name): try SidecarPaths.path(ofSuite: name)
        case .file: url?.absoluteURL.path(percentEncoded: false)
        }
    }

    /// The name for messages.
    var name: String {
        switch self {
        case .suite(let name): "UserDefaults suite \"\(name)\""
        case .file(let path): Self.format(of: path) == .json ? "JSON file" : "property-list file"
        }
    }
}

extension String {
    /// The absolute path; a relative path starts at the working folder. If the working folder was removed, the path stays
    /// relative, and the library rejects it.
    var absolutePath: String {
        guard utf8.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return self }
        defer { free(folder) }
        return String(cString: folder) + "/" + self
    }
}
