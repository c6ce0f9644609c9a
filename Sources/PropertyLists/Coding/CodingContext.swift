/// The position of a coder in a value. The path is made only when it is needed.
struct CodingContext {
    private final class Step {
        let key: any CodingKey
        let above: Step?

        init(_ key: any CodingKey, above: Step?) {
            self.key = key
            self.above = above
        }
    }

    /// Shared by all positions in one value.
    let state: CodingState
    private var last: Step?
    private(set) var depth = 0

    func inside(_ key: any CodingKey) -> CodingContext {
        CodingContext(state: state, last: Step(key, above: last), depth: depth + 1)
    }

    /// A deeper position without a key.
    var deeper: CodingContext { CodingContext(state: state, last: last, depth: depth + 1) }

    init(_ form: ValueForm = .exact) {
        state = CodingState(form)
    }

    private init(state: CodingState, last: Step?, depth: Int) {
        self.state = state
        self.last = last
        self.depth = depth
    }

    /// Whether this is the position of the value itself, and not of a part of it.
    var isRoot: Bool { last == nil }

    var path: [any CodingKey] {
        var keys: [any CodingKey] = []
        var step = last
        while let current = step {
            keys.append(current.key)
            step = current.above
        }
        return keys.reversed()
    }

    /// Whether the depth exceeds the limit. A type may encode itself without end, and each level takes about 2 KB of
    /// stack. Vetting counts the stored levels; there are more levels here, because optionals have no stored level.
    var isTooDeep: Bool { depth > Self.depthLimit }

    private static let depthLimit = PropertyListLimits.depth * 3 / 2

    /// Counts one more value. Returns false if it is nested too deeply or exceeds the number of values. A tree of
    /// shared objects may encode far more values than it holds.
    func isWithinLimits() -> Bool {
        state.values += 1
        if isTooDeep || state.values > Self.valueLimit { state.hasPassedLimits = true }
        return !state.hasPassedLimits
    }

    /// A value takes at least nine bytes of a root.
    private static let valueLimit = PropertyListLimits.rootBytes / 9

    func checkLimits() throws(ValueMismatch) {
        guard state.hasPassedLimits || !isWithinLimits() else { return }
        let isTooLarge = state.values > Self.valueLimit
        throw ValueMismatch(
            reason: isTooLarge
                ? "larger than \(PropertyListLimits.rootBytes >> 20) MiB"
                : "nested deeper than \(PropertyListLimits.depth) levels")
    }
}

/// The record of a coder for the whole of one value.
final class CodingState {
    /// The accepted form of scalars. Only for decoding.
    let form: ValueForm
    /// The place of the last error. Errors of user types do not contain it.
    private var lastFailure: (context: CodingContext, type: Any.Type)?
    var failure: (path: [any CodingKey], type: Any.Type)? { lastFailure.map { ($0.context.path, $0.type) } }
    /// The values counted so far.
    var values = 0
    var hasPassedLimits = false
    /// Paths of members that may come from a fallback.
    var allowedFallbacks: Set<String> = []
    /// The keys of each dictionary, by its place; nil if the caller does not need them.
    var keys: [[PlaceStep]: CodedKeys]?
    /// Whether the type has read the value, successfully or not. Only recorded with `keys`.
    private(set) var hasReadRoot = false
    /// Types that are not scalars, cached because a test for a conformance is slow.
    private var typesWithParts: Set<ObjectIdentifier> = []

    init(_ form: ValueForm) {
        self.form = form
    }

    func knowsParts(of type: Any.Type) -> Bool { typesWithParts.contains(ObjectIdentifier(type)) }

    func recordParts(of type: Any.Type) {
        // An optional is not cached, because it may hold a scalar the next time.
        if !(type is any OptionalValue.Type) { typesWithParts.insert(ObjectIdentifier(type)) }
    }

    /// Called by each type that an error leaves; the first call counts.
    func recordFailure(of type: Any.Type, in context: CodingContext) {
        if lastFailure == nil { lastFailure = (context, type) }
    }

    /// Returns the record of the keys of a dictionary; nil if the caller does not need it.
    func record<Key: CodingKey>(
        _ type: Key.Type, of members: [String: StoredValue], in context: CodingContext
    ) -> CodedKeys? {
        guard keys != nil else { return nil }
        let place = context.path.map { key in
            (key as? PathKey)?.intValue.map(PlaceStep.index) ?? .key(key.stringValue)
        }
        let record = keys?[place] ?? CodedKeys(place: place, present: Set(members.keys))
        record.recordNames(of: type)
        keys?[place] = record
        return record
    }

    /// Called when a value has the kind that a type has asked for.
    func recordReading(in context: CodingContext) {
        if keys != nil, context.isRoot { hasReadRoot = true }
    }

    /// Records that an error that was thrown before has been caught.
    func recordSuccess() {
        if lastFailure != nil { lastFailure = nil }
    }
}

/// The key of an element of a list, or of an encoder's `super`.
struct PathKey: CodingKey {
    let intValue: Int?
    private let text: String

    /// Made only when it is needed, if the key is an index.
    var stringValue: String { intValue.map { "Index \($0)" } ?? text }

    init(_ index: Int) {
        intValue = index
        text = ""
    }

    init(stringValue: String) {
        text = stringValue
        intValue = nil
    }

    init?(intValue: Int) {
        self.init(intValue)
    }

    static let `super` = PathKey(stringValue: "super")
}
