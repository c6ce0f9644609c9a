import Foundation

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

    /// The values of the file, or else the initial ones, which then are in the file.
    func load(_ settings: Settings) throws -> Settings {
        if let root = try read() { return try seen(values.decode(root) { initialRoot(settings) }) }
        return try create(from: initialRoot(settings) ?? values.encode(settings))
    }

    /// The same, with initial values from a bundle.
    func load(_ settings: Settings, from bundle: Bundle) throws -> Settings {
        if let root = try read() {
            return try seen(
                values.decode(root) {
                    let bundled = try? resource(in: bundle).map {
                        try PropertyListDocument.contents(ofResource: $0).root
                    }
                    return bundled.map { SettingsValues<Settings>.merged($0, over: values.own(settings)) }
                        ?? initialRoot(settings)
                })
        }
        guard let bundled = try bundledValues(settings, bundle) else {
            throw SettingsFileError.missing(path: bundle.bundleURL.appending(path: url.lastPathComponent).path)
        }
        return try create(from: bundled.root, format: bundled.format)
    }

    /// Makes the file, unless somebody else has just made it: then theirs counts.
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
            if let theirs { return try seen(values.decode(theirs) { root }) }
            if isFirst { forgetInitial() }
            throw SettingsFileError(error)
        }
        return try seen(values.decode(root) { nil })
    }

    private struct Found: Error {}

    // MARK: - Saving

    func save(_ settings: Settings) throws {
        let root = try values.encode(settings)
        let isFirst = try readThroughDamage() == nil ? keepInitial(root) : false
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
        guard let root = try SettingsFileError.converting({ try files.initial.read() }) else {
            throw SettingsFileError.missing(path: initialPath)
        }
        let initial = try values.decode(root, from: initialPath) { values.own(settings) }
        try write(values.encode(initial))
        return initial
    }

    func delete() throws {
        guard try readThroughDamage() != nil else { throw SettingsFileError.missing(path: path) }
        try SettingsFileError.converting { try files.file.write(nil) }
    }

    func dictionary() throws -> [String: Any?] {
        guard let root = try read() else { throw SettingsFileError.missing(path: path) }
        guard let members = root as? [String: Any] else { throw values.field("", "the root is no dictionary") }
        return members.mapValues { NilMarker.isMarker($0) ? nil : $0 }
    }

    /// That an object has taken over what was loaded.
    func check(_ settings: Settings, hasTaken loaded: Settings) throws {
        let (taken, whole) = (try values.encode(settings), try values.encode(loaded))
        guard !CanonicalValue.areEqual(taken, whole) else { return }
        let (members, all) = (taken as? [String: Any] ?? [:], whole as? [String: Any] ?? [:])
        let forgotten = Set(members.keys).union(all.keys).sorted()
            .first { !CanonicalValue.areEqualOrMissing(members[$0], all[$0]) }
        throw values.field(forgotten ?? "", "was not taken over by take(_:)")
    }

    // MARK: - Files

    private func document(_ format: PropertyListFormat?) throws -> PropertyListDocument {
        guard let format else { return files.file }
        return try PropertyListDocument(url: url, format: format)
    }

    private func read() throws -> Any? {
        do {
            return try files.file.read()
        } catch {
            // What the damaged file was replaced by is nobody's to overwrite who has not seen it.
            if Self.isSetAside(error) { files.noteUnseen() }
            throw SettingsFileError(error)
        }
    }

    /// For what replaces the file: a damaged one that was found on the way is out of it.
    private func readThroughDamage() throws -> Any? {
        do {
            return try read()
        } catch SettingsFileError.storage(let error) where Self.isSetAside(error) {
            return try read()
        }
    }

    private static func isSetAside(_ error: any Error) -> Bool {
        if case PrefsError.damaged(_, _, _?, _) = error { true } else { false }
    }

    private func seen<R>(_ result: R) -> R {
        files.noteSeen()
        return result
    }

    /// Replaces the values. A file that could not be loaded, or that nobody here has seen, is kept beside the new one.
    private func write(_ root: Any, format: PropertyListFormat? = nil) throws {
        for _ in 0..<100 {
            // Not under the lock: decoding is somebody else's code.
            let now = try readThroughDamage()
            let isKnown = now.map { !files.isUnseen && (try? values.decode($0) { root }) != nil } ?? true
            var hasChanged = false
            do {
                try document(format).write(root, keepsOther: !isKnown) {
                    guard CanonicalValue.areEqualOrMissing($0, now) else {
                        hasChanged = true
                        throw Found()
                    }
                }
                return files.noteSeen()
            } catch {
                if !hasChanged { throw SettingsFileError(error) }
            }
        }
        throw SettingsFileError.storage(
            .notStored(StorageFailure(path: path, reason: "is being changed all the time")))
    }

    // MARK: - Initial values

    /// Those that were kept from the first save, and of fields that are newer than that, those that the type starts with;
    /// the type's own where none were kept, or none that can be used.
    private func initialRoot(_ settings: Settings) -> Any? {
        guard let kept = try? files.initial.read(),
            let initial = try? values.decode(kept, fallback: { values.own(settings) })
        else { return values.own(settings) }
        return values.own(initial)
    }

    /// True where they are kept now, and were not before.
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

    /// The first save has failed: what it would have kept were no initial values.
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
        // Where settings are kept beside the program, their file is not what the program came with.
        let isOwn = resource?.resolvingSymlinksInPath().path == url.resolvingSymlinksInPath().path
        return isOwn ? nil : resource
    }
}
