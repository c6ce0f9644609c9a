import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// The files of one settings type, and what is done with them.
struct SettingsStorage<Settings: SettingsFile> {
    private let url: URL
    private let values: SettingsValues<Settings>
    private let files: SettingsFiles

    private var path: String { url.path(percentEncoded: false) }
    private var initialPath: String { path + ".init" }

    init(of settings: Settings) throws {
        let url = settings.settingsURL()
        if url.scheme == "missing-home", case .failure(let failure) = ConfigurationFolder.path {
            throw SettingsFileError.storage(.unreadable(failure))
        }
        self.url = url
        values = SettingsValues(of: settings, path: url.path(percentEncoded: false))
        files = try SettingsFileError.converting {
            try SettingsFiles.at(url, format: type(of: settings).settingsFormat)
        }
    }

    // MARK: - Loading

    /// The values to take over, and the error to throw afterwards. A malformed file has both: the newest known values, and the error
    /// that says so.
    typealias Loaded = (settings: Settings?, failure: SettingsFileError?)

    /// The values of the file. If there is no file, the initial values, which are saved.
    func load(_ settings: Settings) throws -> Loaded {
        try loaded {
            initialRoot(settings)
        } missing: {
            try create(from: initialRoot(settings) ?? values.encode(settings))
        }
    }

    /// The same, with initial values from a bundle.
    func load(_ settings: Settings, from bundle: Bundle) throws -> Loaded {
        try loaded {
            let bundled = try? resource(in: bundle).map {
                try PropertyListDocument.contents(ofResource: $0).root
            }
            return bundled.map { SettingsValues<Settings>.merged($0, over: values.own(settings)) }
                ?? initialRoot(settings)
        } missing: {
            guard let bundled = try bundledValues(settings, bundle) else {
                throw SettingsFileError.missing(path: bundle.bundleURL.appending(path: url.lastPathComponent).path)
            }
            return try create(from: bundled.root, format: bundled.format)
        }
    }

    /// - Parameters:
    ///   - fallback: gives the fields that the file lacks.
    ///   - missing: gives the values if there is no file.
    private func loaded(fallback: () -> Any?, missing: () throws -> Settings) throws -> Loaded {
        let (root, failure) = try read()
        if let root { return (try values.decode(root, fallback: fallback), failure) }
        return failure == nil ? (try missing(), nil) : (nil, failure)
    }

    /// Creates the file. If another process has just created it, its values are taken over.
    private func create(from root: Any, format: PropertyListFormat? = nil) throws -> Settings {
        let isOwn = format == nil
        let isFirst = isOwn ? try keepInitial(root) : false
        var theirs: Any?
        do {
            try document(format).write(root) { now in
                theirs = now
                if now != nil { throw Found() }
            }
        } catch {
            if let theirs { return try values.decode(theirs) { root } }
            if isFirst { forgetInitial() }
            throw SettingsFileError(error)
        }
        return try values.decode(root) { nil }
    }

    private struct Found: Error {}

    // MARK: - Saving

    func save(_ settings: Settings) throws {
        let root = try values.encode(settings)
        let (now, failure) = try read()
        let isFirst = now == nil && failure == nil ? try keepInitial(root) : false
        do {
            try write(root)
        } catch {
            if isFirst { forgetInitial() }
            throw error
        }
    }

    func save(_ dictionary: [String: Any?], initial settings: Settings) throws -> Settings {
        let root = try values.canonical(dictionary.mapValues { $0 ?? NilMarker.text })
        let loaded = try values.decode(root, refusesUnknown: true) { initialRoot(settings) }
        try save(loaded)
        return loaded
    }

    func reset(_ settings: Settings, from bundle: Bundle) throws -> Settings {
        if let bundled = try bundledValues(settings, bundle) {
            try write(bundled.root, format: bundled.format)
            return bundled.settings
        }
        let (root, failure) = try SettingsFileError.converting { try files.initial.read() }
        if let failure { throw SettingsFileError.storage(failure) }
        guard let root else { throw SettingsFileError.missing(path: initialPath) }
        let initial = try values.decode(root, from: initialPath) { values.own(settings) }
        try write(values.encode(initial))
        return initial
    }

    func delete() throws {
        let (root, failure) = try read()
        guard root != nil || failure != nil else { throw SettingsFileError.missing(path: path) }
        try SettingsFileError.converting { try files.file.write(nil) }
    }

    func dictionary() throws -> [String: Any?] {
        let (root, failure) = try read()
        if let failure { throw failure }
        guard let root else { throw SettingsFileError.missing(path: path) }
        guard let members = root as? [String: Any] else {
            throw values.field("", "expected a dictionary, found \(ValueMismatch.kind(of: root))")
        }
        return members.mapValues { NilMarker.isMarker($0) ? nil : $0 }
    }

    /// Checks that an object has taken over the loaded values.
    func check(_ settings: Settings, hasTaken loaded: Settings) throws {
        let (taken, whole) = (try values.encode(settings), try values.encode(loaded))
        guard !CanonicalValue.areEqual(taken, whole) else { return }
        let (members, all) = (taken as? [String: Any] ?? [:], whole as? [String: Any] ?? [:])
        let forgotten = Set(members.keys).union(all.keys).sorted()
            .first { !CanonicalValue.areEqualOrMissing(members[$0], all[$0]) }
        throw values.field(forgotten ?? "", "was not copied by take(_:)")
    }

    // MARK: - Files

    private func document(_ format: PropertyListFormat?) throws -> PropertyListDocument {
        guard let format else { return files.file }
        return try PropertyListDocument(url: url, format: format)
    }

    private func read() throws -> (root: Any?, failure: SettingsFileError?) {
        let (root, failure) = try SettingsFileError.converting { try files.file.read() }
        return (root, failure.map(SettingsFileError.storage))
    }

    /// Replaces the values. A file that could not be loaded is kept beside the new one.
    private func write(_ root: Any, format: PropertyListFormat? = nil) throws {
        for _ in 0..<100 {
            // Before the file is locked, because decoding runs code of the settings type.
            let now = try read().root
            let isKnown = now.map { (try? values.decode($0) { root }) != nil } ?? true
            var hasChanged = false
            do {
                try document(format).write(root, keepsOther: !isKnown) {
                    guard CanonicalValue.areEqualOrMissing($0, now) else {
                        hasChanged = true
                        throw Found()
                    }
                }
                return
            } catch {
                if !hasChanged { throw SettingsFileError(error) }
            }
        }
        throw SettingsFileError.storage(
            .notStored(StorageFailure(path: path, reason: "was changed during every attempt")))
    }

    // MARK: - Initial values

    /// The values of the first save. Fields that are newer take the initial values of the type, and so do all fields if the values of
    /// the first save are missing or cannot be used.
    private func initialRoot(_ settings: Settings) -> Any? {
        guard let kept = try? files.initial.read().root,
            let initial = try? values.decode(kept, fallback: { values.own(settings) })
        else { return values.own(settings) }
        return values.own(initial)
    }

    /// Returns true if this call has created the file of initial values.
    private func keepInitial(_ root: Any) throws -> Bool {
        var isThere = false
        do {
            try files.initial.write(root) { now in
                isThere = now != nil
                if isThere { throw Found() }
            }
            return true
        } catch {
            if isThere { return false }
            throw SettingsFileError(error)
        }
    }

    /// Undoes `keepInitial` after the first save has failed.
    private func forgetInitial() {
        try? files.initial.write(nil)
    }

    private func bundledValues(
        _ settings: Settings, _ bundle: Bundle
    ) throws -> (settings: Settings, root: Any, format: PropertyListFormat)? {
        guard let resource = resource(in: bundle) else { return nil }
        let (root, format) = try SettingsFileError.converting {
            try PropertyListDocument.contents(ofResource: resource)
        }
        let bundled = try values.decode(root, from: resource.path(percentEncoded: false)) { values.own(settings) }
        return (bundled, root, format)
    }

    private func resource(in bundle: Bundle) -> URL? {
        let name = url.deletingPathExtension().lastPathComponent
        let resource = bundle.url(forResource: name, withExtension: url.pathExtension)
        // The settings may be stored beside the program. Their file is not a resource.
        let isOwn = resource?.resolvingSymlinksInPath().path == url.resolvingSymlinksInPath().path
        return isOwn ? nil : resource
    }
}
