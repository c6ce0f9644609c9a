import PrefsPropertyLists

/// Something that is wrong: with the store of an instance, a layer, or a value, also one of a rejected write.
///
/// ```swift
/// for problem in prefs.problems() where problem.source == .layer("arguments") { exit(64) }
/// ```
///
/// ``PersistentPrefs/problems()`` lists all problems, and ``PersistentPrefs/onError(_:)`` gives the ``error`` of each once.
/// A problem quotes no stored value. Two problems are equal if all that they say is. A value type; may be
/// passed between threads.
public struct PrefsProblem: Sendable, Hashable, CustomStringConvertible {
    /// What is wrong. Later versions may add cases.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
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

    /// What is wrong.
    public let kind: Kind
    /// Where it lies: in a layer, or `.stored`, also if the store as a whole is at fault. Never `.default`.
    public let source: PrefSource
    /// The path of the value, such as `servers[2].port`; in a layer, its variable, argument or file. Empty if the store
    /// as a whole is at fault, or several values are.
    public let path: String
    /// The first step of `path`: a key of the stored root. Empty if the problem is about the store as a whole, or a layer.
    public let topLevelKey: String
    /// The problem, as a clause without a full stop. For a store as a whole, it names the file.
    public let reason: String
    private let access: Access

    /// The error of an access that meets a problem. Not compared: problems that say the same are equal.
    private enum Access: Hashable {
        /// No access meets it.
        case none
        case typeMismatch, constraintViolated, ignoredInLayer, coveredByLayer
        case fails(PrefsError)

        static func == (left: Access, right: Access) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    package init(
        _ kind: Kind, in source: PrefSource = .stored, path: String = "", topLevelKey: String = "", reason: String,
        cause: PrefsError? = nil
    ) {
        self.init(kind, source, path, topLevelKey, reason: reason, cause.map(Access.fails) ?? .none)
    }

    private init(
        _ kind: Kind, _ source: PrefSource, _ path: String, _ topLevelKey: String, reason: String, _ access: Access
    ) {
        (self.kind, self.source, self.path, self.topLevelKey) = (kind, source, path, topLevelKey)
        (self.reason, self.access) = (reason, access)
    }

    /// Creates the problem of a value that is not of the type of its property.
    init(mismatch failure: PropertyListFailure) {
        self.init(.value, .stored, failure.path, failure.topLevelKey, reason: failure.reason, .typeMismatch)
    }

    /// Creates the problem of a value that violates the constraint of its property.
    init(violation failure: PropertyListFailure) {
        self.init(.value, .stored, failure.path, failure.topLevelKey, reason: failure.reason, .constraintViolated)
    }

    /// The place and the reason of the problem of a value.
    var failure: PropertyListFailure { PropertyListFailure(path: path, topLevelKey: topLevelKey, reason: reason) }

    /// Creates the problem of a layer, or of an entry of it, that cannot be used.
    ///
    /// - Parameters:
    ///   - place: the variable, the argument, the path or the key; empty if the layer as a whole is at fault.
    ///   - reason: may quote the text of a variable or an argument, escaped and shortened to 40 characters. Never quotes
    ///     a stored value or a value of a file.
    package init(layer: String, place: String, reason: String, kind: Kind = .value) {
        // No access meets a name that no key has, or a file that is used although others may change it.
        let isMet = kind != .unknownKey && kind != .permissions
        self.init(kind, .layer(layer), place, "", reason: reason, isMet ? .ignoredInLayer : .none)
    }

    /// Creates the problem of a write to a key that a layer above the base sets.
    package init(covered key: String, by layer: String, place: String) {
        let shown = Self.place(place, in: layer).flatMap { $0 == key ? nil : $0 }
        self.init(
            .covered, .layer(layer), place, key,
            reason: "\"\(ShownText.key(key))\" is set by the layer \(ShownText.line(layer, longest: 300))"
                + (shown.map { " (\(ShownText.line($0, longest: 300)))" } ?? ""), .coveredByLayer)
    }

    /// The error of an access that meets the problem; ``PrefsError/problem(_:)`` if no access does.
    public var error: PrefsError {
        switch access {
        case .none: .problem(self)
        case .typeMismatch: .typeMismatch([self])
        case .constraintViolated: .constraintViolated([self])
        case .ignoredInLayer: .ignoredInLayer([self])
        case .coveredByLayer: .coveredByLayer([self])
        case .fails(let error): error
        }
    }

    /// One line: the path, the layer and the reason. Each path stands once. Control and format characters are escaped.
    public var description: String { (path.isEmpty ? "" : "\(ShownText.path(path)): ") + reasonInLayer }

    /// The reason, and the layer before it, unless the path names that already.
    package var reasonInLayer: String {
        let reason = ShownText.message(reason)
        // The reason of a covered key names the layer.
        guard case .layer(let name) = source, !path.hasSuffix(name), kind != .covered else { return reason }
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
}

extension PrefsError {
    /// Whether it is a fault that stands, and that every access meets; false for a mistake of the caller.
    var isFault: Bool {
        switch self {
        case .typeMismatch, .constraintViolated, .rootIsNotDictionary, .migrationFailed, .unreadable, .damaged,
            .notOurs,
            .unknownError, .userDefaultsUnavailable, .ignoredInLayer, .notWatched, .problem:
            true
        default: false
        }
    }

    /// What is wrong, one problem for each value, key or layer; a single one for every other error, with its
    /// description.
    ///
    /// For a form: ``PrefsProblem/topLevelKey`` names the field, and ``PrefsProblem/reason`` is the text beside it.
    /// Costs time linear in their number. Any thread.
    public var problems: [PrefsProblem] {
        switch self {
        case .typeMismatch(let problems), .constraintViolated(let problems), .ignoredInLayer(let problems),
            .coveredByLayer(let problems):
            problems
        case .problem(let problem): [problem]
        case .valuesNotPlistCompatible(let keys):
            keys.failures.map {
                PrefsProblem(.value, path: $0.path, topLevelKey: $0.topLevelKey, reason: $0.reason, cause: self)
            }
        case .incorrectKeys(let keys):
            keys.map { key in
                let near = keys.nearestAllowed.map { "; did you mean \"\(ShownText.key($0))\"?" } ?? ""
                return PrefsProblem(
                    .unknownKey, path: key, topLevelKey: key, reason: "is not an allowed key" + near, cause: self)
            }
        case .ruleViolated(let texts): texts.map { PrefsProblem(.rule, reason: $0, cause: self) }
        case .notWatched: [PrefsProblem(.watch, reason: description, cause: self)]
        default: [PrefsProblem(.store, reason: description, cause: self)]
        }
    }
}
