import Foundation
import PrefsPropertyLists

/// The keys that a rejected write names, sorted; see ``PrefsError/incorrectKeys(invalidElements:)`` and
/// ``PrefsError/valuesNotPlistCompatible(invalidElements:)``.
///
/// A collection of the keys, which are an array in RVS_PersistentPrefs. ``PrefsError/failures`` gives the reasons. A value
/// type; may be passed between threads.
public struct InvalidKeys: RandomAccessCollection, ExpressibleByArrayLiteral, Sendable {
    private let keys: [String]
    /// The reasons, for values that a property list cannot hold.
    private let reasons: [PropertyListFailure]
    /// The keys that could have been meant, for keys that are not allowed.
    private let allowed: [String]

    init(_ keys: [String], failures: [PropertyListFailure] = [], among allowed: [String] = []) {
        (self.keys, reasons, self.allowed) = (keys, failures, allowed)
    }

    /// Creates the keys of an error that a test expects.
    public init(_ keys: some Sequence<String>) { self.init(Array(keys), failures: []) }

    /// Creates the keys of an error that a test expects.
    public init(arrayLiteral keys: String...) { self.init(keys, failures: []) }

    /// The position of the first key: 0.
    public var startIndex: Int { 0 }
    /// The number of keys.
    public var endIndex: Int { keys.count }
    /// The key at a position.
    public subscript(position: Int) -> String { keys[position] }

    var failures: [PropertyListFailure] {
        if !reasons.isEmpty { return reasons }
        return keys.map {
            PropertyListFailure(path: $0, topLevelKey: $0, reason: "cannot be stored in a property list")
        }
    }

    /// The allowed key that the only key resembles; nil if none does. Not sought before it is asked for, because a class
    /// may have a thousand keys.
    var nearestAllowed: String? {
        guard keys.count == 1, StreamSafeText.isSafe(keys[0]) else { return nil }
        // The key of the version is in the list, and cannot be meant.
        return NearestWord(among: allowed.filter { $0 != keys[0] }).nearest(to: keys[0])
    }
}

extension InvalidKeys: Hashable, CustomStringConvertible {
    /// The text of an array: `["a", "b"]`.
    public var description: String { keys.description }

    /// Whether the keys are equal.
    public static func == (left: InvalidKeys, right: InvalidKeys) -> Bool { left.keys == right.keys }

    /// Hashes the keys.
    public func hash(into hasher: inout Hasher) { hasher.combine(keys) }
}

// MARK: - Classes

/// Two classes that use one root; see ``PrefsError/sharedRoot(_:)``.
public struct SharedRoot: Sendable, Hashable {
    /// The root key; empty for a flat layout, in which all classes share one root.
    public let key: String
    /// The names of the two classes with their modules, in the order of their first instances.
    public let classes: [String]
    /// The keys that the classes declare with different types, in a flat layout also with different defaults, sorted.
    public let contradictions: [String]
}

extension SharedRoot: CustomStringConvertible {
    /// One line: which classes share the root, the keys in question, and what to do.
    public var description: String {
        let types = contradictions.map { "\"\(ShownText.key($0))\"" }.joined(separator: ", ")
        let classes = classes.joined(separator: " and ")
        if key.isEmpty {
            return "\(classes) share a flat layout, and declare \(types) with different types or defaults; "
                + "give one of them another key"
        }
        return "\(classes) share the root \"\(ShownText.key(key))\""
            + (types.isEmpty ? "" : ", and declare \(types) with different types")
            + "; give one of them a root key of its own"
    }
}

// MARK: - Layers

/// A layer, or an entry of it, that cannot be used; see ``PrefsError/invalidLayer(_:)``.
public struct LayerFault: Sendable, Hashable, CustomStringConvertible {
    /// The name of the layer.
    public let layer: String
    /// The variable, the argument, the path or the key; empty if the layer as a whole is at fault.
    public let place: String
    /// The problem, as a clause without a full stop. It may quote the text of a variable or an argument, escaped and
    /// shortened to 40 characters. It never quotes a stored value or a value of a file.
    public let reason: String

    /// What kind of problem it is. Nobody sees it, so two faults are equal without it.
    let kind: PrefsProblem.Kind

    package init(layer: String, place: String, reason: String, kind: PrefsProblem.Kind = .value) {
        (self.layer, self.place, self.reason, self.kind) = (layer, place, reason, kind)
    }

    /// One line: the layer, the place and the reason. A path stands once.
    public var description: String {
        let place = placeInLayer(place, layer).map { ShownText.line($0, longest: 300) + ": " } ?? ""
        return "layer \(ShownText.line(layer, longest: 300)): \(place)\(ShownText.message(reason))"
    }

    /// Whether layer, place and reason are equal.
    public static func == (left: LayerFault, right: LayerFault) -> Bool {
        left.layer == right.layer && left.place == right.place && left.reason == right.reason
    }

    /// Hashes layer, place and reason.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(layer)
        hasher.combine(place)
        hasher.combine(reason)
    }
}

/// A key that a layer above the base sets; see ``PrefsError/coveredByLayer(_:)``.
public struct CoveredKey: Sendable, Hashable, CustomStringConvertible {
    /// The key.
    public let key: String
    /// The name of the layer.
    public let layer: String
    /// The variable, the argument, or the key and the path of the file.
    public let place: String

    package init(key: String, layer: String, place: String) {
        (self.key, self.layer, self.place) = (key, layer, place)
    }

    /// One line: `"size" is set by the layer environment (EDITOR_size)`. A path stands once.
    public var description: String {
        let shown = placeInLayer(place, layer).flatMap { $0 == key ? nil : $0 }
        let place = shown.map { " (\(ShownText.line($0, longest: 300)))" } ?? ""
        return "\"\(ShownText.key(key))\" is set by the layer \(ShownText.line(layer, longest: 300))\(place)"
    }
}

/// A place without the path of its file, if that is the name of the layer; nil if nothing is left.
private func placeInLayer(_ place: String, _ layer: String) -> String? {
    if place.isEmpty || place == layer { return nil }
    let end = " in " + layer
    return place.utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
        ? String(decoding: place.utf8.dropLast(end.utf8.count), as: UTF8.self) : place
}
