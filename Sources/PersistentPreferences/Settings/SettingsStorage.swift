import Foundation

/// The files of one settings type, and what is done with them.
struct SettingsStorage<Settings: SettingsFile> {
    private let url: URL
    private let type: Settings.Type
    private let file: PropertyListDocument
    /// The initial values, kept from the first save.
    private let initialFile: PropertyListDocument

    private var path: String { url.path(percentEncoded: false) }

    init(of settings: Settings) throws {
        url = settings.settingsURL()
        // Of an object, the class that it is of: it may be another than the variable's.
        type = Swift.type(of: settings)
        if url.scheme == "missing-home", case .failure(let failure) = ConfigurationFolder.path {
            throw SettingsFileError.storage(.unreadable(failure))
        }
        let url = url
        let format = type.settingsFormat
        (file, initialFile) = try Self.converting {
            (
                try PropertyListDocument(url: url, format: format),
                try PropertyListDocument(url: url.appendingPathExtension("init"), format: format)
            )
        }
    }

    // MARK: - Loading

    /// The values of the file, or else the initial ones, which then are in the file.
    func load(_ settings: Settings) throws -> Settings {
        if let root = try read(file) { return try decode(root, initial: settings) }
        let initial = try read(initialFile).map { try decode($0, initial: settings, from: path + ".init") } ?? settings
        try save(initial)
        return initial
    }

    func load(_ settings: Settings, from bundle: Bundle) throws -> Settings {
        if let root = try read(file) { return try decode(root, initial: settings) }
        guard let bundled = try bundledValues(settings, bundle) else { throw missing(url.lastPathComponent) }
        try write(bundled.root, format: bundled.format)
        return bundled.settings
    }

    // MARK: - Saving

    func save(_ settings: Settings) throws {
        let root = try encode(settings)
        if try read(file) == nil, try read(initialFile) == nil {
            // First, so that it is there whenever the file is.
            try Self.converting { try initialFile.write(root) { _ in true } }
        }
        try write(root)
    }

    func save(_ dictionary: [String: Any?], initial settings: Settings) throws -> Settings {
        let root = try canonical(dictionary.compactMapValues { $0 })
        let loaded = try decode(root, initial: try initialRoot(settings))
        let known = try encode(loaded) as? [String: Any] ?? [:]
        if let members = root as? [String: Any], let unknown = members.keys.sorted().first(where: { known[$0] == nil })
        {
            throw field(unknown, "is no field of \(type)")
        }
        try save(loaded)
        return loaded
    }

    func reset(_ settings: Settings, from bundle: Bundle) throws -> Settings {
        if let bundled = try bundledValues(settings, bundle) {
            try write(bundled.root, format: bundled.format)
            return bundled.settings
        }
        guard let root = try read(initialFile) else { throw missing(path + ".init") }
        let initial = try decode(root, initial: settings, from: path + ".init")
        try write(root)
        return initial
    }

    func delete() throws {
        guard try read(file) != nil else { throw missing(path) }
        try Self.converting { try file.write(nil) }
    }

    func dictionary() throws -> [String: Any?] {
        guard let root = try read(file) else { throw missing(path) }
        guard let members = root as? [String: Any] else { throw field("", "the root is no dictionary") }
        return members.mapValues { NilMarker.isMarker($0) ? nil : NilMarker.unescaped($0) }
    }

    // MARK: - Files

    private func read(_ document: PropertyListDocument) throws -> Any? {
        try Self.converting { try document.read() }
    }

    /// A file that could not be loaded is kept beside the new one.
    private func write(_ root: Any, format: PropertyListFormat? = nil) throws {
        let url = url
        let document = try format.map { format in
            try Self.converting { try PropertyListDocument(url: url, format: format) }
        }
        try Self.converting {
            try (document ?? file).write(root) { now in now.map { (try? decode($0, initial: root)) != nil } ?? true }
        }
    }

    private func bundledValues(
        _ settings: Settings, _ bundle: Bundle
    ) throws -> (settings: Settings, root: Any, format: PropertyListFormat)? {
        let name = url.deletingPathExtension().lastPathComponent
        guard let resource = bundle.url(forResource: name, withExtension: url.pathExtension) else { return nil }
        let (root, format) = try Self.converting { try PropertyListDocument.contents(ofResource: resource) }
        return (try decode(root, initial: settings, from: resource.path(percentEncoded: false)), root, format)
    }

    // MARK: - Values

    private func encode(_ settings: Settings) throws -> Any {
        do {
            return try canonical(try PropertyListObjectEncoder.object(from: settings))
        } catch let mismatch as ValueMismatch {
            throw field(mismatch)
        }
    }

    private func canonical(_ object: Any) throws -> Any {
        switch PropertyListVetter.canonical(object, forKey: "") {
        case .success(let copy): return copy
        case .failure(let refusal):
            let failure = refusal.failures.first
            throw field(String(failure?.path.drop { $0 == "." } ?? ""), failure?.reason ?? "cannot be stored")
        }
    }

    /// What takes the place of fields that a file lacks: what was kept from the first save, and of fields that are newer
    /// than that, what the type starts with.
    private func initialRoot(_ settings: Settings) throws -> Any {
        let own = try encode(settings)
        return try read(initialFile).map { Self.merged($0, over: own) } ?? own
    }

    private static func merged(_ root: Any, over other: Any) -> Any {
        guard let members = root as? [String: Any], let others = other as? [String: Any] else { return root }
        return others.merging(members) { merged($1, over: $0) }
    }

    private func decode(_ root: Any, initial settings: Settings, from path: String? = nil) throws -> Settings {
        try decode(root, initial: try initialRoot(settings), from: path)
    }

    private func decode(_ root: Any, initial: Any, from path: String? = nil) throws -> Settings {
        let settings: Settings
        do {
            settings = try PropertyListObjectDecoder.value(type, from: root, fallback: initial)
        } catch let mismatch as ValueMismatch {
            throw field(mismatch, in: path)
        }
        if let members = root as? [String: Any], let known = try encode(settings) as? [String: Any] {
            try refuseMisspelling(members, known, in: path)
        }
        return settings
    }

    /// A field that is missing, beside an unknown one of nearly its name, was not left out: somebody has mistyped it.
    private func refuseMisspelling(_ members: [String: Any], _ known: [String: Any], in path: String?) throws {
        let missing = known.keys.filter { members[$0] == nil }.sorted()
        guard !missing.isEmpty else { return }
        for unknown in members.keys.filter({ known[$0] == nil }).sorted() {
            guard let meant = missing.first(where: { $0.isNearly(unknown) }) else { continue }
            throw field(unknown, "is no field of \(type); \"\(meant)\" is missing", in: path)
        }
    }

    // MARK: - Errors

    private func missing(_ path: String) -> SettingsFileError { .missing(path: path) }

    private func field(_ mismatch: ValueMismatch, in path: String? = nil) -> SettingsFileError {
        field(String(mismatch.path.drop { $0 == "." }), mismatch.reason, in: path)
    }

    private func field(_ name: String, _ reason: String, in path: String? = nil) -> SettingsFileError {
        let topLevelKey = String(name.prefix { $0 != "." && $0 != "[" })
        return .field(
            path: path ?? self.path, failure: PropertyListFailure(path: name, topLevelKey: topLevelKey, reason: reason))
    }

    private static func converting<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as SettingsFileError {
            throw error
        } catch {
            throw SettingsFileError.storage(PrefsError(error))
        }
    }
}

extension String {
    /// Whether one can be made of the other by at most two changes of a letter, of names that are longer than those.
    func isNearly(_ other: String) -> Bool {
        let (left, right) = (Array(lowercased()), Array(other.lowercased()))
        guard abs(left.count - right.count) <= 2, min(left.count, right.count) > 2 else { return false }
        var row = Array(0...right.count)
        for (i, letter) in left.enumerated() {
            var next = [i + 1]
            for (j, other) in right.enumerated() {
                next.append(Swift.min(row[j] + (letter == other ? 0 : 1), row[j + 1] + 1, next[j] + 1))
            }
            row = next
        }
        return (row.last ?? .max) <= 2
    }
}
