import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// Converts the values of a settings type to a property list and back. Errors are `PrefsError`, with the path of a file.
struct SettingsValues<Settings: SettingsFile> {
    /// The class of an object may be a subclass of the variable's type.
    let type: Settings.Type
    let path: String

    func encode(_ settings: Settings) throws -> StoredValue {
        do {
            let root = try StoredValueEncoder.value(of: settings)
            try PropertyListVetter.check(root)
            return root
        } catch let mismatch as ValueMismatch {
            throw PrefsError.notStored(failure(path, mismatch.path, mismatch.reason))
        }
    }

    /// The settings in the root of their file.
    ///
    /// - Parameter fallback: gives the fields that are missing, in the exact form.
    func decode(_ root: StoredValue, fallback: () -> StoredValue?) throws -> Settings {
        try decode(root, at: path, as: type.settingsFormat, fallback: fallback)
    }

    /// The settings in a root of another file.
    ///
    /// - Parameter format: nil for exact values.
    func decode(
        _ root: StoredValue, at path: String, as format: FileFormat?, fallback: () -> StoredValue?
    ) throws -> Settings {
        try decoded(root, at: path, as: format.form, fallback).value
    }

    /// The object of a member of a root in a format; nil for a value that stands for nil.
    func object(of member: StoredValue, as format: FileFormat?) -> Any? {
        NilMarker.isMarker(member, in: format.form) ? nil : member.object
    }

    /// A stored root with new values: the root itself if it has these values already, else the values with its unknown
    /// fields.
    ///
    /// - Parameter format: that of the file.
    /// - Throws: `PrefsError.unreadable` if it has values of another type.
    func updated(_ root: StoredValue, to new: StoredValue, as format: FileFormat?) throws -> StoredValue {
        let (former, keys) = try decoded(root, at: path, as: type.settingsFormat.coder.form) { new }
        let whole = UnknownFields.preserved(in: new, from: root, keys: keys)
        guard format.form != .exact else { return whole }
        // A field that the file lacks is new.
        let before = try UnknownFields.preserved(in: encode(former), from: root, keys: keys).members(alsoIn: root)
        return written(whole, of: new, over: root, from: before, as: format)
    }

    /// A root as people write it in a file; the exact form if the type does not read that as the settings.
    ///
    /// - Parameter settings: the encoded settings; nil if the root has no unknown fields.
    func written(
        _ root: StoredValue, of settings: StoredValue? = nil, over raw: StoredValue? = nil,
        from before: StoredValue? = nil, as format: FileFormat?
    ) -> StoredValue {
        let settings = settings ?? root
        return format.form.written(root, over: raw, from: before) {
            (try? encode(decode($0, fallback: { settings }))) == settings
        }
    }

    private func decoded(
        _ root: StoredValue, at path: String, as form: ValueForm, _ fallback: () -> StoredValue?
    ) throws -> (value: Settings, keys: [CodedKeys]) {
        let decoded: (value: Settings, keys: [CodedKeys])
        do {
            decoded = try StoredValueDecoder.value(type, from: root, form) { fallback().map(form.raw) }
        } catch let mismatch as ValueMismatch {
            throw PrefsError.unreadable(failure(path, mismatch.path, mismatch.reason))
        }
        // The file of another type, or a file whose keys were all renamed, would read as the initial values.
        if let keys = decoded.keys.first(where: { $0.path.isEmpty }), keys.areForeign, !keys.expected.isEmpty {
            let reason = "expected \(Self.list(keys.expected)), found \(Self.list(keys.unknown))"
            throw PrefsError.unreadable(failure(path, "", reason))
        }
        return decoded
    }

    /// The first keys as text.
    private static func list(_ keys: [String]) -> String {
        let shown = keys.prefix(5).map { "\"\(ShownText.key($0))\"" }
        let others = keys.count - shown.count
        let list = shown.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
        return "the \(keys.count == 1 ? "key" : "keys") \(list)"
    }

    /// The first field, by name, whose value differs; nil if the values are equal, and "" if they differ as a whole.
    func firstDifference(of settings: Settings, from other: Settings) throws -> String? {
        let (left, right) = (try encode(settings), try encode(other))
        guard left != right else { return nil }
        let (members, others) = (left.dictionary ?? [:], right.dictionary ?? [:])
        return Set(members.keys).union(others.keys).sorted().first { members[$0] != others[$0] } ?? ""
    }

    func unreadable(_ field: String, _ reason: String) -> PrefsError { .unreadable(failure(path, field, reason)) }

    /// - Parameter field: may begin with a dot; empty for the whole value.
    private func failure(_ path: String, _ field: String, _ reason: String) -> StorageFailure {
        let field = field.drop { $0 == "." }
        return StorageFailure(
            path: path, reason: field.isEmpty ? reason : "\(ShownText.path(String(field))): \(reason)")
    }
}

extension StoredValue {
    /// The value without the members that another value lacks.
    fileprivate func members(alsoIn other: StoredValue) -> StoredValue {
        guard case .dictionary(let own) = self, case .dictionary(let others) = other else { return self }
        var members: [String: StoredValue] = [:]
        for (key, value) in own { members[key] = others[key].map(value.members) }
        return .dictionary(members)
    }
}
