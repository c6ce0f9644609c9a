import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import PrefsPropertyLists

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
        description?.property.written(value, forKey: name, over: nil, from: nil, .json) ?? value
    }
}
