import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// Loads and saves the files of one settings value.
struct SettingsStorage<Settings: SettingsFile> {
    /// The values to copy, and the error to throw afterwards. A malformed file gives both: the newest known
    /// values, and the error.
    typealias Loaded = (settings: Settings?, failure: PrefsError?)
    typealias Load = (SettingsStorage, Settings) throws -> Loaded

    private let url: URL
    private let values: SettingsValues<Settings>
    private let file: PropertyListDocument
    /// The document with the values with which a load has created the file.
    private let initial: PropertyListDocument

    private var path: String { url.path(percentEncoded: false) }

    init(of settings: Settings) throws {
        url = settings.settingsURL()
        if url == SettingsLocation.withoutHome {
            do throws(StorageFailure) {
                _ = try (ConfigurationFolder.path.get(), ConfigurationFolder.program.get())
            } catch {
                throw PrefsError.unreadable(error)
            }
        }
        values = SettingsValues(type: type(of: settings), path: url.path(percentEncoded: false))
        file = try .kept(at: url, format: values.type.settingsFormat)
        initial = try .kept(at: url.appendingPathExtension("init"), format: values.type.settingsFormat)
    }

    // MARK: - Loading

    /// Loads the values of the file. If it is missing, creates it with the values in memory, or with those of the bundle.
    func load(_ settings: Settings, fromBundle: Bool = false) throws -> Loaded {
        let (root, failure, _) = try file.read()
        if root == nil, let failure { throw failure }
        let loaded =
            if let root {
                try values.decode(root) { initialRoot(settings, fromBundle) }
            } else if fromBundle {
                try create(from: bundled(), settings)
            } else {
                try create(settings)
            }
        UsedFiles.insert(url)
        return (loaded, failure)
    }

    /// Hands over loaded values. A class may copy only a part of them.
    func give(_ loaded: Loaded, to settings: inout Settings) throws {
        if let values = loaded.settings {
            let former = settings
            settings.copyValues(from: values)
            if type(of: former) is AnyClass { try check(&settings, formerly: former, hasCopied: values) }
        }
        if let failure = loaded.failure { throw failure }
    }

    private func check(_ object: inout Settings, formerly former: Settings, hasCopied loaded: Settings) throws {
        guard object as AnyObject === former as AnyObject else {
            object = former
            throw values.unreadable("", "copyValues(from:) has replaced the object instead of changing it")
        }
        if let omitted = try values.firstDifference(of: object, from: loaded) {
            throw values.unreadable(omitted, "was not copied by copyValues(from:)")
        }
    }

    /// Creates the file with the values in memory, and keeps them as the initial ones. After the first access, they may
    /// be a user's edits.
    private func create(_ settings: Settings) throws -> Settings {
        let root = try values.encode(settings)
        let isFirst = try stated() == nil && !UsedFiles.contains(url) && write(root, ifMissing: initial) == nil
        do {
            return try create(from: (root, nil, path), settings)
        } catch {
            if isFirst { try? initial.write(nil) }
            throw error
        }
    }

    /// Creates the file. If another process has just created it, its values are loaded.
    private func create(from initial: Initial, _ settings: Settings) throws -> Settings {
        let new = try decode(initial, for: settings)
        let document = try document(initial.format)
        let theirs = try write(written(initial, as: document.read().format), ifMissing: document)
        return try theirs.map { try values.decode($0) { try? values.encode(new) } } ?? new
    }

    /// - Returns: the root that is there already; nil if this call has created the file.
    private func write(_ root: StoredValue, ifMissing document: PropertyListDocument) throws -> StoredValue? {
        var there: StoredValue?
        do {
            try document.write(root) { now in
                there = now
                if now != nil { throw Found() }
            }
        } catch is Found {}
        return there
    }

    private struct Found: Error {}

    // MARK: - Initial values

    /// Initial values, the format of the resource that has them, and its path. Without a format, the values are exact.
    private typealias Initial = (root: StoredValue, format: FileFormat?, path: String)

    private func decode(_ initial: Initial, for settings: Settings) throws -> Settings {
        try values.decode(initial.root, at: initial.path, as: initial.format) {
            try? values.encode(settings)
        }
    }

    /// The initial values as a file of a format has them.
    private func written(_ initial: Initial, as format: FileFormat?) -> StoredValue {
        initial.format?.name == format?.name ? initial.root : values.written(initial.root, as: format)
    }

    /// The initial values that the type implements; nil if it does not implement them.
    private func stated() throws -> Settings? {
        do {
            return try values.type.initialSettings
        } catch is UnstatedInitialSettings {
            return nil
        }
    }

    /// The values of the fields that a file lacks: initial ones, and for fields that these lack, the values in memory.
    /// Initial values that cannot be used prevent nothing.
    private func initialRoot(_ settings: Settings, _ fromBundle: Bool) -> StoredValue? {
        let own = try? values.encode(settings)
        let initial = (fromBundle ? try? bundled() : nil) ?? (try? statedOrKept())
        guard let initial, let settings = try? decode(initial, for: settings) else { return own }
        return (try? values.encode(settings)) ?? own
    }

    private func statedOrKept() throws -> Initial {
        if let stated = try stated() { return (try values.encode(stated), nil, path) }
        let (root, failure, _) = try initial.read()
        if let failure { throw failure }
        let path = path + ".init"
        guard let root else { throw missing(path) }
        return (root, nil, path)
    }

    private var resource: URL? {
        let name = url.deletingPathExtension().lastPathComponent
        let resource = values.type.settingsBundle.url(forResource: name, withExtension: url.pathExtension)
        // The settings may be stored beside the program. Then their own file is not the resource.
        let isOwn = resource?.resolvingSymlinksInPath().path == url.resolvingSymlinksInPath().path
        return isOwn ? nil : resource
    }

    private func bundled() throws -> Initial {
        guard let resource else {
            throw missing(values.type.settingsBundle.bundleURL.appending(path: url.lastPathComponent).path)
        }
        let (root, format) = try PropertyListDocument.contents(ofResource: resource, for: values.type.settingsFormat)
        return (root, format, resource.path(percentEncoded: false))
    }

    private func missing(_ path: String) -> PrefsError {
        .unreadable(StorageFailure(path: path, reason: "the file does not exist"))
    }

    // MARK: - Saving

    func save(_ settings: Settings) throws {
        let new = try values.encode(settings)
        try write { now, format in
            guard let now else { return values.written(new, as: format) }
            do {
                return try values.updated(now, to: new, as: format)
            } catch PrefsError.unreadable(let failure) {
                let reason = "\(failure.reason); reset() or delete() moves the file aside"
                throw PrefsError.notStored(StorageFailure(path: failure.path, reason: reason))
            }
        }
        UsedFiles.insert(url)
    }

    func reset(_ settings: Settings) throws -> Settings {
        let initial = try resource == nil ? statedOrKept() : bundled()
        let new = try decode(initial, for: settings)
        try write(initial.format, explicitlyBy: settings) { written(initial, as: $1) }
        return new
    }

    func delete(_ settings: Settings) throws {
        let (root, failure, _) = try file.read()
        guard root != nil || failure != nil else { throw missing(path) }
        try file.write(nil, keepsOther: isOther(root, than: settings), isExplicit: true)
    }

    /// Whether a root has values of another type.
    private func isOther(_ root: StoredValue?, than settings: Settings) -> Bool {
        root.map { (try? values.decode($0) { try? values.encode(settings) }) == nil } == true
    }

    func dictionary() throws -> [String: Any?]? {
        let (root, failure, format) = try file.read()
        if let failure { throw failure }
        guard let root else { return nil }
        guard case .dictionary(let members) = root else {
            throw values.unreadable("", "expected a dictionary, found \(ValueMismatch.kind(of: root))")
        }
        return members.mapValues { values.object(of: $0, as: format) }
    }

    private func document(_ format: FileFormat?) throws -> PropertyListDocument {
        try format.map { try PropertyListDocument(url: url, format: $0) } ?? file
    }

    /// Replaces the root by what the closure makes of it.
    ///
    /// - Parameter explicit: given for an explicit word, which quarantines a file that has values of another type or is
    ///   not ours.
    private func write(
        _ format: FileFormat? = nil, explicitlyBy explicit: Settings? = nil,
        _ change: (StoredValue?, FileFormat?) throws -> StoredValue
    ) throws {
        let document = try document(format)
        for _ in Attempts.all {
            // Before the file is locked, because coding runs code of the settings type.
            let (now, _, format) = try document.read()
            let root = try change(now, format)
            let keepsOther = explicit.map { isOther(now, than: $0) } ?? false
            do {
                try document.write(root, keepsOther: keepsOther, isExplicit: explicit != nil) {
                    if $0 != now { throw Found() }
                }
                return
            } catch is Found {}
        }
        throw PrefsError.notStored(StorageFailure(path: path, reason: "was changed during every attempt"))
    }
}

/// The files whose values this process has loaded or saved. After that, a value may hold a user's edits instead of the
/// initial values.
private enum UsedFiles {
    private static let urls = Locked(Set<URL>())

    static func insert(_ url: URL) { urls.withLock { _ = $0.insert(url) } }

    static func contains(_ url: URL) -> Bool { urls.withLock { $0.contains(url) } }
}
