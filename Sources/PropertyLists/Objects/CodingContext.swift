/// Where a coder stands: the way from the top, made into a list only when somebody asks.
struct CodingContext {
    private final class Step {
        let key: any CodingKey
        let above: Step?

        init(_ key: any CodingKey, above: Step?) {
            self.key = key
            self.above = above
        }
    }

    /// What has been met on all the ways from one top.
    let notes: CodingState
    private var last: Step?
    private(set) var depth = 0

    func inside(_ key: any CodingKey) -> CodingContext {
        CodingContext(notes: notes, last: Step(key, above: last), depth: depth + 1)
    }

    /// Deeper, without a key.
    var deeper: CodingContext { CodingContext(notes: notes, last: last, depth: depth + 1) }

    init() {
        notes = CodingState()
    }

    private init(notes: CodingState, last: Step?, depth: Int) {
        self.notes = notes
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

    /// A type may code itself again, without end; each level here takes some 2 KB of the stack. Vetting counts the levels
    /// that are stored: there are more of these, for optionals have none of their own.
    var isTooDeep: Bool { depth > Self.depthLimit }

    private static let depthLimit = PropertyListLimits.depth * 3 / 2

    /// Counts one more value. False where it is nested too deeply, or one too many: objects that are encoded wherever they
    /// are referred to multiply.
    func isWithinLimits() -> Bool {
        notes.values += 1
        if isTooDeep || notes.values > Self.valueLimit { notes.hasPassedLimits = true }
        return !notes.hasPassedLimits
    }

    /// Each takes nine bytes of a root at least.
    private static let valueLimit = PropertyListLimits.rootBytes / 9

    func checkLimits() throws(ValueMismatch) {
        guard notes.hasPassedLimits || !isWithinLimits() else { return }
        let isTooLarge = notes.values > Self.valueLimit
        throw ValueMismatch(
            reason: isTooLarge
                ? "larger than \(PropertyListLimits.rootBytes >> 20) MiB"
                : "nested deeper than \(PropertyListLimits.depth) levels")
    }
}

/// The keys of one dictionary, and those that its type has asked for.
package struct CodedKeys {
    package let path: String
    let present: Set<String>
    var asked: Set<String> = []

    package var unknown: [String] { present.subtracting(asked).sorted() }
    package var missing: [String] { asked.subtracting(present).sorted() }
}

/// What a coder has met, for the whole of one value.
final class CodingState {
    /// Where the last error came from, for errors of somebody's own, which do not say so.
    private(set) var failure: (place: CodingContext, type: Any.Type)?
    /// The values counted so far.
    var values = 0
    var hasPassedLimits = false
    /// Paths of members that may come from a fallback.
    var allowedFallbacks: Set<String> = []
    /// What became of the keys of each dictionary, by its path; nil where nobody wants to know.
    var keys: [String: CodedKeys]?
    /// Types that are known to be no scalars: asking whether a type conforms is slow.
    private var typesWithParts: Set<ObjectIdentifier> = []

    func knowsParts(of type: Any.Type) -> Bool { typesWithParts.contains(ObjectIdentifier(type)) }

    func noteParts(of type: Any.Type) {
        // An optional may hold a scalar the next time.
        if !(type is any OptionalValue.Type) { typesWithParts.insert(ObjectIdentifier(type)) }
    }

    /// Called on the way out of each type that an error passes; the first one counts.
    func noteFailure(of type: Any.Type, at place: CodingContext) {
        if failure == nil { failure = (place, type) }
    }

    func noteAsked(_ key: String, of members: [String: Any], at place: CodingContext) {
        guard keys != nil else { return }
        let path = ValueMismatch.text(of: place.path)
        keys?[path, default: CodedKeys(path: path, present: Set(members.keys))].asked.insert(key)
    }

    /// Whatever was thrown before has been caught.
    func noteSuccess() {
        if failure != nil { failure = nil }
    }
}

/// The key of a list's element, or of an encoder's `super`.
struct PlaceKey: CodingKey {
    let intValue: Int?
    private let text: String

    /// Of an index it is made only when somebody asks.
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

    static let `super` = PlaceKey(stringValue: "super")
}
