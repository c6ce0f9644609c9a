import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// Converts the values of a settings type to a property list and back.
struct SettingsValues<Settings: SettingsFile> {
    /// The type of the values. The class of an object may be a subclass of the variable's type.
    let type: Settings.Type
    private let path: String

    init(of settings: Settings, path: String) {
        type = Swift.type(of: settings)
        self.path = path
    }

    func encode(_ settings: Settings) throws -> StoredValue {
        do {
            let root = try StoredValueEncoder.value(of: settings)
            try check(root)
            return root
        } catch let mismatch as ValueMismatch {
            throw field(mismatch)
        }
    }

    /// Encodes initial values; nil if they cannot be encoded.
    func own(_ settings: Settings) -> StoredValue? {
        try? encode(settings)
    }

    func vetted(_ object: Any) throws -> StoredValue {
        do {
            return try PropertyListVetter.value(of: object, forKey: "")
        } catch {
            throw field(error)
        }
    }

    func check(_ root: StoredValue) throws {
        do {
            try PropertyListVetter.check(root, forKey: "")
        } catch {
            throw field(error)
        }
    }

    private func field(_ refusal: PropertyListVetter.Refusal) -> SettingsFileError {
        let failure = refusal.failures.first
        return field(failure?.path ?? "", failure?.reason ?? "cannot be stored")
    }

    /// - Parameters:
    ///   - path: the path of the file; nil stands for the file of the settings.
    ///   - fallback: gives the fields that are missing.
    func decode(_ root: StoredValue, from path: String? = nil, fallback: () -> StoredValue?) throws -> Settings {
        try decoded(root, from: path, fallback: fallback).settings
    }

    /// Decodes a root and returns the values and the keys of its dictionaries.
    ///
    /// - Parameter others: the dictionaries whose unknown fields are allowed. Other unknown fields are rejected; nil
    ///   allows all.
    func decoded(
        _ root: StoredValue, from path: String? = nil, rejectingUnknownBut others: [CodedKeys]? = nil,
        fallback: () -> StoredValue?
    ) throws -> (settings: Settings, keys: [CodedKeys]) {
        do {
            let (settings, keys) = try decodedFields(of: root, fallback)
            let allowed = others.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.place, $0.unknown) }) }
            for keys in keys.sorted(by: { $0.path < $1.path }) {
                try check(keys, allowed: allowed.map { $0[keys.place] ?? [] }, path)
            }
            return (settings, keys)
        } catch let mismatch as ValueMismatch {
            throw field(mismatch, in: path)
        }
    }

    /// The format may accept values as people write them.
    private func decodedFields(
        of root: StoredValue, _ fallback: () -> StoredValue?
    ) throws -> (Settings, [CodedKeys]) {
        do {
            return try StoredValueDecoder.value(type, from: root, fallback: fallback)
        } catch {
            guard type.settingsFormat.form != .exact else { throw error }
            return try StoredValueDecoder.value(type, from: root, type.settingsFormat.form, fallback: fallback)
        }
    }

    private func check(_ keys: CodedKeys, allowed: [String]?, _ path: String?) throws {
        for unknown in keys.unknown {
            if let allowed, !allowed.contains(unknown) {
                throw field("\(keys.path).\(unknown)", "is not a field", in: path)
            }
        }
        // The file of another type, or a file whose keys were all renamed, would read as the initial values.
        if keys.path.isEmpty, keys.areForeign, !keys.expected.isEmpty {
            throw field("", "expected \(Self.list(keys.expected)), found \(Self.list(keys.unknown))", in: path)
        }
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
        return Set(members.keys).union(others.keys).sorted()
            .first { members[$0] != others[$0] } ?? ""
    }

    /// Whether values in the forms that a person has written equal a root.
    func areSame(_ written: StoredValue, _ root: StoredValue) -> Bool {
        guard type.settingsFormat.form != .exact, let settings = try? decode(written, fallback: { nil }) else {
            return false
        }
        return (try? encode(settings)) == root
    }

    /// The members of a root, and the members of another root that it lacks.
    static func merged(_ root: StoredValue, over other: StoredValue?) -> StoredValue {
        guard let members = root.dictionary, let others = other?.dictionary else { return root }
        return .dictionary(others.merging(members) { merged($1, over: $0) })
    }

    func field(_ name: String, _ reason: String, in path: String? = nil) -> SettingsFileError {
        let name = String(name.drop { $0 == "." })
        let topLevelKey = String(name.prefix { $0 != "." && $0 != "[" })
        return .field(
            path: path ?? self.path, failure: PropertyListFailure(path: name, topLevelKey: topLevelKey, reason: reason))
    }

    private func field(_ mismatch: ValueMismatch, in path: String? = nil) -> SettingsFileError {
        field(mismatch.path, mismatch.reason, in: path)
    }
}
