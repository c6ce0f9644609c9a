import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// Loads and saves the files of one settings type.
struct SettingsStorage<Settings: SettingsFile> {
    let url: URL
    let values: SettingsValues<Settings>
    let files: SettingsFiles

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

    /// The values to take over, and the error to throw afterwards. A malformed file gives both: the newest known
    /// values, and the error.
    typealias Loaded = (settings: Settings?, failure: SettingsFileError?)

    /// Loads the values of the file. If it is missing, saves and returns the initial values.
    func load(_ settings: Settings) throws -> Loaded {
        try loaded {
            initialRoot(settings)
        } missing: {
            try create(from: initialRoot(settings) ?? values.encode(settings))
        }
    }

    /// Loads the values of the file. If it is missing, saves and returns the initial values of a bundle.
    func load(_ settings: Settings, from bundle: Bundle) throws -> Loaded {
        try loaded {
            let bundled = try? resource(in: bundle).map {
                try PropertyListDocument.contents(ofResource: $0, for: values.type.settingsFormat).root
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
    ///   - missing: gives the values if the file is missing.
    private func loaded(fallback: () -> StoredValue?, missing: () throws -> Settings) throws -> Loaded {
        let (root, failure) = try read()
        if root == nil, failure != nil { return (nil, failure) }
        let settings = try root.map { try values.decode($0, fallback: fallback) } ?? missing()
        SettingsFiles.markUsed(url)
        return (settings, failure)
    }

    /// Hands over loaded values. A class may take them over in part.
    func give(_ loaded: Loaded, to settings: inout Settings) throws {
        if let values = loaded.settings {
            settings.take(values)
            try check(settings, hasTaken: values)
        }
        if let failure = loaded.failure { throw failure }
    }

    private func check(_ settings: Settings, hasTaken loaded: Settings) throws {
        guard type(of: settings) is AnyClass else { return }
        let omitted = try values.firstDifference(of: settings, from: loaded)
        IncompleteObjects.record(settings as AnyObject, omits: omitted)
        if let omitted { throw values.field(omitted, "was not copied by take(_:)") }
    }

    /// Creates the file. If another process has just created it, its values are taken over.
    private func create(from root: StoredValue, format: FileFormat? = nil) throws -> Settings {
        let isInitial = format == nil && !isStated && !SettingsFiles.isUsed(url)
        let isFirst = isInitial ? try keepInitial(root) : false
        var theirs: StoredValue?
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

    struct Found: Error {}

    // MARK: - Saving

    func save(_ settings: Settings) throws {
        if type(of: settings) is AnyClass, let omitted = IncompleteObjects.field(omittedBy: settings as AnyObject) {
            let reason = "was not copied by take(_:); the object is not saved until a load succeeds"
            throw values.field(omitted, reason)
        }
        try write(values.encode(settings), preservesUnknown: true)
        SettingsFiles.markUsed(url)
    }

    func save(_ dictionary: [String: Any?], initial settings: Settings) throws -> Settings {
        let root = try values.vetted(dictionary.mapValues { $0 ?? NilMarker.text })
        let stored = try read().root.flatMap { try? values.decoded($0) { initialRoot(settings) }.keys }
        let (loaded, keys) = try values.decoded(root, rejectingUnknownBut: stored ?? []) { initialRoot(settings) }
        try write(
            UnknownFields.preserved(in: values.encode(loaded), from: root, keys: keys), preservesUnknown: true)
        SettingsFiles.markUsed(url)
        return loaded
    }

    func reset(_ settings: Settings, from bundle: Bundle) throws -> Settings {
        if let bundled = try bundledValues(settings, bundle) {
            try write(bundled.root, format: bundled.format)
            return bundled.settings
        }
        if let stated = try stated() {
            try write(values.encode(stated))
            return stated
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
        guard case .dictionary(let members) = root else {
            throw values.field("", "expected a dictionary, found \(ValueMismatch.kind(of: root))")
        }
        return members.mapValues { NilMarker.isMarker($0) ? nil : $0.object }
    }

    // MARK: - Files

    private func document(_ format: FileFormat?) throws -> PropertyListDocument {
        guard let format else { return files.file }
        return try PropertyListDocument(url: url, format: format)
    }

    private func read() throws -> (root: StoredValue?, failure: SettingsFileError?) {
        let (root, failure) = try SettingsFileError.converting { try files.file.read() }
        return (root, failure.map(SettingsFileError.storage))
    }

    /// Replaces the values. A file that could not be loaded is kept beside the new one.
    private func write(
        _ root: StoredValue, format: FileFormat? = nil, preservesUnknown: Bool = false
    ) throws {
        for _ in 0..<100 {
            // Before the file is locked, because decoding runs code of the settings type.
            let now = try read().root
            let keys = now.flatMap { try? values.decoded($0) { root }.keys }
            let isKnown = now == nil || keys != nil
            var root = root
            if preservesUnknown, let now, let keys {
                root =
                    values.areSame(now, root) ? now : UnknownFields.preserved(in: root, from: now, keys: keys)
                try values.check(root)
            }
            var hasChanged = false
            do {
                try document(format).write(root, keepsOther: !isKnown) {
                    guard $0 == now else {
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
}
