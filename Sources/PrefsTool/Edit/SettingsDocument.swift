import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import PrefsPropertyLists

/// The values of a class, or the entries of a property list, as JSON with comments.
struct SettingsDocument: EditedDocument {
    private let invocation: Invocation
    private let place: Place
    /// The values that were read.
    private var values: [String: StoredValue]
    /// The members of the text to begin with.
    private var shown: [String: StoredValue]
    let text: Data
    let remarks: [Remark] = []
    let syntax = EditedSyntax.json

    /// - Throws: why nothing can be edited.
    init(_ place: Place, _ invocation: Invocation) throws {
        let (found, failure) = try place.read()
        if case .damaged(let file)? = failure, !file.isEmptied, !invocation.isForced {
            let damage = CommandError(damaged: file, showsLine: place.secrets.isEmpty)
            throw place.secrets.isEmpty
                ? damage : CommandError("\(damage); --reveal opens the text, with the sensitive values")
        }
        (self.place, self.invocation) = (place, invocation)
        values = found ?? [:]
        text = Data(try SettingsText(place, values).text.utf8)
        shown = try syntax.members(of: text)
    }

    func store(_ text: Data, _ answers: ValueMerge.Answers) throws -> Outcome {
        let (base, mine) = try changed(syntax.members(of: text), in: text)
        return try place.change(invocation) { values, _ in
            values = try ValueMerge.values(base, to: mine, over: values, isDeep: place.prefs == nil) { conflict in
                answers.replaces(conflict.theirs, at: conflict.path)
            }
        }
    }

    mutating func catchUp(_ text: Data) throws -> Data {
        let mine = try syntax.members(of: text)
        values = try place.read().values ?? [:]
        let theirs = try syntax.members(of: Data(SettingsText(place, values).text.utf8))
        let merged = try ValueMerge.values(shown, to: mine, over: theirs, isDeep: place.prefs == nil) { _ in true }
        shown = theirs
        return try syntax.text(text, from: mine, to: merged)
    }

    /// The values that the person saw, and those that the text stands for.
    ///
    /// - Throws: `EditRejection` with everything that cannot be stored.
    private func changed(
        _ members: [String: StoredValue], in text: Data
    ) throws(EditRejection) -> (base: [String: StoredValue], mine: [String: StoredValue]) {
        let (base, mine) =
            place.prefs == nil
            ? (shown.withReferences, try entries(members, in: text)) : (values, try settings(members, in: text))
        do { try place.rehearse(from: base, to: mine) } catch { throw EditRejection(error, in: text, syntax) }
        return (base, mine)
    }

    private func entries(
        _ members: [String: StoredValue], in text: Data
    ) throws(EditRejection) -> [String: StoredValue] {
        let remarks = members.sortedByBytes.filter { $1.holdsNull }.map { key, _ in
            Remark(
                line: syntax.line(ofKey: key, in: text),
                text: "\(ShownText.key(key)): null cannot be stored in a property list; leave it out")
        }
        if remarks.isEmpty { return members.withReferences }
        throw EditRejection(remarks)
    }

    private func settings(
        _ members: [String: StoredValue], in text: Data
    ) throws(EditRejection) -> [String: StoredValue] {
        var mine = values
        var remarks: [Remark] = []
        for (key, new) in members.merging(shown, uniquingKeysWith: { mine, _ in mine }).sortedByBytes
        where members[key] != shown[key] {
            do {
                mine[key] = try members[key] == nil ? nil : place.value(written: new, forKey: key, over: values[key])
            } catch {
                remarks.append(Remark(line: syntax.line(ofKey: key, in: text), text: "\(error)"))
            }
        }
        if remarks.isEmpty { return mine }
        throw EditRejection(remarks)
    }

}

extension Place {
    /// The value that is stored for one that a person has written in JSON; nil if the key is to be removed.
    ///
    /// - Parameter former: the replaced value.
    func value(written: StoredValue, forKey key: String, over former: StoredValue?) throws -> StoredValue? {
        let known = keys.first { $0.name == key }
        if known == nil, !keys.isEmpty { throw CommandError(explain(.incorrectKeys(invalidElements: [key]))) }
        if written.isNull, known?.isOptional ?? true { return nil }
        let value = try prefs?.canonical(written, forKey: key) ?? written
        try check(value, forKey: key, over: former)
        return value
    }
}

extension [String: StoredValue] {
    /// The values with the references of a keyed archive, which JSON shows as dictionaries.
    fileprivate var withReferences: [String: StoredValue] { mapValues(\.withReferences) }
}

extension StoredValue {
    fileprivate var withReferences: StoredValue {
        switch self {
        case .array(let elements): return .array(elements.map(\.withReferences))
        case .dictionary(let members):
            guard members.count == 1, let number = members[KeyedArchiveUID.key]?.integer(as: UInt64.self) else {
                return .dictionary(members.mapValues(\.withReferences))
            }
            return .uid(KeyedArchiveUID(value: number))
        default: return self
        }
    }
}

/// The text of settings for an editor. Comments have what the program declares about each key.
struct SettingsText {
    private static let width = 77

    private let place: Place
    private let values: [String: StoredValue]
    /// The values without secrets, and without those of layers, which are not stored.
    private let shown: [String: StoredValue]

    /// - Parameter values: the values that were read.
    init(_ place: Place, _ values: [String: StoredValue]) {
        (self.place, self.values) = (place, values)
        let isDeep = place.prefs == nil
        shown = place.secrets.removed(from: values, isDeep: isDeep).filter { !place.isOfLayer($0.key) }
    }

    var text: String {
        get throws {
            guard let prefs = place.prefs else {
                return try comments("The entries of \(place.file ?? place.name). \(Self.rules)", indent: "")
                    + ExportFormat.json(of: .dictionary(shown))
            }
            let place = "\(prefs.key) in \(self.place.file ?? self.place.name)"
            let how = "To set a value whose line begins with //, remove the //. To restore a default, remove the line."
            let rest = Set(shown.keys).subtracting(self.place.keys.map(\.name)).sorted()
            let keys = try (self.place.keys + rest.map { PrefsKey($0, nil) }).map(lines)
            return comments("\(place). \(how) \(Self.rules)", indent: "") + "{\n" + keys.joined(separator: "\n") + "}\n"
        }
    }

    private static let rules =
        "Comments are not stored. An empty file, or an editor that ends with an error (:cq in vi), changes nothing."

    /// The comments and the line of a key.
    private func lines(_ key: PrefsKey) throws -> String {
        let name = key.name.json
        var comment = key.description?.help.map { comments($0, indent: "  ") } ?? ""
        if place.secrets.contains(key.name) {
            return comment + comments("\(name) is sensitive and left out. Add it here to set it.", indent: "  ")
        }
        let standard = place.prefs?.storedDefault(forKey: key.name).map { key.written($0) }
        if let description = key.description {
            let parts = [
                key.typeName, description.constraint ?? description.choices.map { $0.joined(separator: ", ") },
                standard.map { "default \(JSONWriter.line(of: $0))" } ?? "no default",
            ]
            let short = key.shortName == key.name ? "" : "\(key.shortName): "
            comment += comments(short + parts.compactMap { $0 }.joined(separator: ", "), indent: "  ")
        }
        if let value = shown[key.name] {
            let text = try ExportFormat.json(of: key.written(value)).split(separator: "\n").joined(separator: "\n  ")
            return comment + "  \(name): \(text),\n"
        }
        if place.isOfLayer(key.name), case .layer(let layer)? = place.prefs?.source(ofKey: key.name) {
            comment += comments("Set by \(layer).", indent: "  ")
        }
        let value = values[key.name].map { key.written($0) } ?? standard ?? .null
        return comment + "  // \(name): \(JSONWriter.line(of: value)),\n"
    }

    private func comments(_ text: String, indent: String) -> String {
        text.split(separator: "\n").flatMap { DisplayWidth.lines(String($0).printable, width: Self.width) }
            .map { "\(indent)// \($0)\n" }.joined()
    }
}

extension PrefsKey {
    /// Whether the value may be nil.
    var isOptional: Bool { description.map { $0.valueType is any OptionalValue.Type } ?? true }

    /// The value as people write it in JSON.
    fileprivate func written(_ value: StoredValue) -> StoredValue {
        description?.property.written(value, forKey: name, .json) ?? value
    }
}
