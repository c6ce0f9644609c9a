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

    /// Deeper, without a key.
    var deeper: CodingContext { CodingContext(state: state, last: last, depth: depth + 1) }

    init() {
        state = CodingState()
    }

    private init(state: CodingState, last: Step?, depth: Int) {
        self.state = state
        self.last = last
        self.depth = depth
    }

    var path: [any CodingKey] {
        var keys: [any CodingKey] = []
        var step = last
        while let current = step {
            keys.append(current.key)
            step = current.above
        }
        return keys.reversed()
    }

    /// A type may encode itself again without end; each level takes about 2 KB of the stack here. Vetting counts the stored levels.
    /// There are more levels here, because optionals have no stored level.
    var isTooDeep: Bool { depth > Self.depthLimit }

    private static let depthLimit = PropertyListLimits.depth * 3 / 2

    /// Counts one more value. Returns false if it is nested too deeply or exceeds the number of values. A tree of shared objects
    /// may encode far more values than it holds.
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

/// The keys of one dictionary, and those that its type has requested.
package struct CodedKeys {
    package let path: String
    let present: Set<String>
    var requested: Set<String> = []

    package var unknown: [String] { present.subtracting(requested).sorted() }
    package var missing: [String] { requested.subtracting(present).sorted() }
}

/// The record of a coder for the whole of one value.
final class CodingState {
    /// The place of the last error. Errors of user types do not contain it.
    private(set) var failure: (context: CodingContext, type: Any.Type)?
    /// The values counted so far.
    var values = 0
    var hasPassedLimits = false
    /// Paths of members that may come from a fallback.
    var allowedFallbacks: Set<String> = []
    /// The keys of each dictionary, by its path; nil if the caller does not need them.
    var keys: [String: CodedKeys]?
    /// Types that are not scalars. A cache, because a test for a conformance is slow.
    private var typesWithParts: Set<ObjectIdentifier> = []

    func knowsParts(of type: Any.Type) -> Bool { typesWithParts.contains(ObjectIdentifier(type)) }

    func recordParts(of type: Any.Type) {
        // An optional may hold a scalar the next time.
        if !(type is any OptionalValue.Type) { typesWithParts.insert(ObjectIdentifier(type)) }
    }

    /// Called by each type that an error leaves; the first call counts.
    func recordFailure(of type: Any.Type, in context: CodingContext) {
        if failure == nil { failure = (context, type) }
    }

    func recordRequest(_ key: String, of members: [String: Any], in context: CodingContext) {
        guard keys != nil else { return }
        let path = ValueMismatch.text(of: context.path)
        keys?[path, default: CodedKeys(path: path, present: Set(members.keys))].requested.insert(key)
    }

    /// An error that was thrown before has been caught.
    func recordSuccess() {
        if failure != nil { failure = nil }
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
