import Foundation
import PrefsPropertyLists

/// The values of a settings type as objects of a property list, and back.
struct SettingsValues<Settings: SettingsFile> {
    /// The class of an object, which may be a subclass of the variable's type.
    private let type: Settings.Type
    private let path: String

    init(of settings: Settings, path: String) {
        type = Swift.type(of: settings)
        self.path = path
    }

    func encode(_ settings: Settings) throws -> Any {
        do {
            return try canonical(try PropertyListObjectEncoder.object(from: settings))
        } catch let mismatch as ValueMismatch {
            throw field(mismatch)
        }
    }

    /// The same for initial values; nil if they cannot be encoded.
    func own(_ settings: Settings) -> Any? {
        try? encode(settings)
    }

    func canonical(_ object: Any) throws -> Any {
        switch PropertyListVetter.canonical(object, forKey: "") {
        case .success(let copy): return copy
        case .failure(let refusal):
            let failure = refusal.failures.first
            throw field(failure?.path ?? "", failure?.reason ?? "cannot be stored")
        }
    }

    /// - Parameters:
    ///   - path: of the file; nil stands for the file of the settings.
    ///   - refusesUnknown: whether every field has to be known.
    ///   - fallback: gives the fields that are missing.
    func decode(
        _ root: Any, from path: String? = nil, refusesUnknown: Bool = false, fallback: () -> Any?
    ) throws -> Settings {
        do {
            let (settings, keys) = try PropertyListObjectDecoder.value(type, from: root, fallback: fallback)
            for keys in keys.sorted(by: { $0.path < $1.path }) {
                try check(keys, refusesUnknown, path)
            }
            return settings
        } catch let mismatch as ValueMismatch {
            throw field(mismatch, in: path)
        }
    }

    /// Reports a mistyped field of a hand-edited file. Otherwise it would silently read as its initial value, and the next save would
    /// remove what the user has typed.
    private func check(_ keys: CodedKeys, _ refusesUnknown: Bool, _ path: String?) throws {
        for unknown in keys.unknown {
            if let meant = keys.missing.first(where: { $0.isMistyped(as: unknown) }) {
                let reason = "is not a field; \"\(meant)\" is missing"
                throw field("\(keys.path).\(unknown)", reason, in: path)
            }
            if refusesUnknown { throw field("\(keys.path).\(unknown)", "is not a field", in: path) }
        }
    }

    /// The members of a root, and those of the other root that it lacks.
    static func merged(_ root: Any, over other: Any?) -> Any {
        guard let members = root as? [String: Any], let others = other as? [String: Any] else { return root }
        return others.merging(members) { merged($1, over: $0) }
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

extension String {
    /// Whether the other name is this one with one typing error: a letter too many, too few, wrong, or two letters swapped. A plural is
    /// not an error.
    func isMistyped(as other: String) -> Bool {
        let (left, right) = (Array(lowercased()), Array(other.lowercased()))
        guard min(left.count, right.count) > 2, left + ["s"] != right, right + ["s"] != left else { return false }
        let same = zip(left, right).prefix { $0 == $1 }.count
        let (leftRest, rightRest) = (left[same...], right[same...])
        switch leftRest.count - rightRest.count {
        case 1: return Array(leftRest.dropFirst()) == Array(rightRest)
        case -1: return Array(leftRest) == Array(rightRest.dropFirst())
        case 0:
            if Array(leftRest.dropFirst()) == Array(rightRest.dropFirst()) { return true }
            return leftRest.prefix(2).reversed() == Array(rightRest.prefix(2))
                && Array(leftRest.dropFirst(2)) == Array(rightRest.dropFirst(2))
        default: return false
        }
    }
}
