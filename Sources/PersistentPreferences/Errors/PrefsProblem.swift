import PrefsPropertyLists

/// Something that is wrong now with what an instance reads: with its store, a layer, or a value.
///
/// ```swift
/// for problem in prefs.problems() where problem.source == .layer("arguments") { exit(64) }
/// ```
///
/// ``PersistentPrefs/problems()`` lists all problems, and ``PersistentPrefs/onError(_:)`` gives the ``error`` of each once.
/// A problem quotes no stored value. Two problems are equal if source, path and reason are. A value type; may be
/// passed between threads.
public struct PrefsProblem: Sendable, Hashable, CustomStringConvertible {
    /// What is wrong. Later versions may add cases.
    public enum Kind: Sendable, Hashable {
        /// The store or the layer as a whole: it cannot be read, is malformed or empty, or its root is not a dictionary.
        case store
        /// A value does not fit its property: its type or a constraint.
        case value
        /// Several values violate a rule of ``PersistentPrefs/rules``.
        case rule
        /// An optional with ``PrefOption/required`` has no value.
        case missing
        /// A key, a variable or an argument that no property has, or that is ignored because another one is used.
        case unknownKey
        /// The version of the root: a write would migrate it, or a newer version of the program has written it.
        case version
        /// Others may change a file of secrets. Its value is used.
        case permissions
        /// The system cannot watch the file, so changes of other processes are looked for once a second.
        case watch
        /// A layer above the base sets the key, so that writes of it are rejected; see ``PrefsError/coveredByLayer(_:)``.
        case covered
    }

    /// Where the problem lies.
    public enum Source: Sendable, Hashable {
        /// The store, or the base of a layered store.
        case store
        /// The layer with this name.
        case layer(String)
    }

    /// What is wrong.
    public let kind: Kind
    /// Where it lies.
    public let source: Source
    /// The path of the value, as in ``PropertyListFailure/path``; in a layer, its variable, argument or file. Empty if the
    /// store as a whole is at fault, or several values are.
    public let path: String
    /// The first step of `path`: a key of the stored root. Empty if the problem is about the store as a whole, or a layer.
    public let topLevelKey: String
    /// The problem, as a clause without a full stop. For a store as a whole, it names the file.
    public let reason: String
    private let cause: PrefsError?
    /// Whether accesses meet the problem, which is of a layer.
    private var isInvalidLayer = false

    package init(
        _ kind: Kind, in source: Source = .store, path: String = "", topLevelKey: String = "", reason: String,
        cause: PrefsError? = nil
    ) {
        (self.kind, self.source, self.path, self.topLevelKey) = (kind, source, path, topLevelKey)
        (self.reason, self.cause) = (reason, cause)
    }

    /// Creates the problem of a layer, or of an entry of it, that cannot be used.
    ///
    /// - Parameters:
    ///   - place: the variable, the argument, the path or the key; empty if the layer as a whole is at fault.
    ///   - reason: may quote the text of a variable or an argument, escaped and shortened to 40 characters. Never quotes
    ///     a stored value or a value of a file.
    package init(layer: String, place: String, reason: String, kind: Kind = .value) {
        self.init(kind, in: .layer(layer), path: place, reason: reason)
        // No access meets a name that no key has, or a file that is used although others may change it.
        isInvalidLayer = kind != .unknownKey && kind != .permissions
    }

    /// Creates the problem of a write to a key that a layer above the base sets.
    package init(covered key: String, by layer: String, place: String) {
        let shown = Self.place(place, in: layer).flatMap { $0 == key ? nil : $0 }
        self.init(
            .covered, in: .layer(layer), path: place, topLevelKey: key,
            reason: "\"\(ShownText.key(key))\" is set by the layer \(ShownText.line(layer, longest: 300))"
                + (shown.map { " (\(ShownText.line($0, longest: 300)))" } ?? ""))
    }

    /// The error of an access that meets the problem; ``PrefsError/problem(_:)`` if no access does.
    public var error: PrefsError { cause ?? (isInvalidLayer ? .invalidLayer([self]) : .problem(self)) }

    /// One line: the path, the layer and the reason. Each path stands once. Control and format characters are escaped.
    public var description: String { (path.isEmpty ? "" : "\(ShownText.path(path)): ") + reasonInLayer }

    /// The reason, and the layer before it, unless the path names that already.
    package var reasonInLayer: String {
        let reason = ShownText.message(reason)
        guard case .layer(let name) = source, !path.hasSuffix(name) else { return reason }
        return "\(ShownText.line(name, longest: 300)): \(reason)"
    }

    /// One line for a problem of a layer, which names it first.
    var textOfLayer: String {
        guard case .layer(let layer) = source else { return description }
        let place = Self.place(path, in: layer).map { ShownText.line($0, longest: 300) + ": " } ?? ""
        return "layer \(ShownText.line(layer, longest: 300)): \(place)\(ShownText.message(reason))"
    }

    /// A place without the path of its file, if that is the name of the layer; nil if nothing is left.
    private static func place(_ place: String, in layer: String) -> String? {
        if place.isEmpty || place == layer { return nil }
        let end = " in " + layer
        return place.utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
            ? String(decoding: place.utf8.dropLast(end.utf8.count), as: UTF8.self) : place
    }

    /// Whether source, path and reason are equal.
    public static func == (left: PrefsProblem, right: PrefsProblem) -> Bool {
        left.source == right.source && left.path == right.path && left.reason == right.reason
    }

    /// Hashes source, path and reason.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(path)
        hasher.combine(reason)
    }
}

extension PrefsError {
    /// Whether it is a fault that stands, and that every access meets; false for a mistake of the caller.
    var isFault: Bool {
        switch self {
        case .typeMismatch, .constraintViolated, .rootIsNotDictionary, .migrationFailed, .unreadable, .damaged,
            .notOurs,
            .unknownError, .userDefaultsUnavailable, .invalidLayer, .notWatched, .problem, .sharedRoot:
            true
        default: false
        }
    }

    /// The problems that an access has met.
    var problems: [PrefsProblem] {
        func problems(
            _ failures: [PropertyListFailure], _ error: ([PropertyListFailure]) -> PrefsError
        ) -> [PrefsProblem] {
            failures.map {
                PrefsProblem(
                    .value, path: $0.path, topLevelKey: $0.topLevelKey, reason: $0.reason, cause: error([$0]))
            }
        }
        return switch self {
        case .typeMismatch(let failures): problems(failures, PrefsError.typeMismatch)
        case .constraintViolated(let failures): problems(failures, PrefsError.constraintViolated)
        case .invalidLayer(let problems): problems
        case .problem(let problem): [problem]
        case .notWatched: [PrefsProblem(.watch, reason: description, cause: self)]
        default: [PrefsProblem(.store, reason: description, cause: self)]
        }
    }
}
