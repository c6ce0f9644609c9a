@testable import PrefsSupport
import WriteOperations

/// Draws a world and a sequence of operations from a seed.
struct ModelGenerator {
    private var random: SeededGenerator
    private var world = ModelWorld(prefs: [], isClockAhead: true)
    /// The recent writes, so that they are repeated.
    private var recent: [(number: Int, key: String, input: ModelInput)] = []

    static func make(seed: UInt64, count: Int) -> (world: ModelWorld, moves: [ModelMove]) {
        var generator = ModelGenerator(random: SeededGenerator(seed: seed))
        generator.world = generator.makeWorld()
        let moves = (0..<count).map { _ in generator.move() }
        return (generator.world, moves)
    }

    private mutating func makeWorld() -> ModelWorld {
        // Each store once, and some twice, because several instances on one root are the most important case.
        let stores = ModelStore.allCases + [.binary, one(of: ModelStore.allCases)]
        let prefs = stores.map { store in
            ModelWorld.Prefs(
                store: store, key: chance(70) ? ModelWorld.roots[0] : one(of: ModelWorld.roots),
                allowed: Array(ModelWorld.keys.shuffled(using: &random).prefix(number(in: 3...8))))
        }
        return ModelWorld(prefs: prefs, isClockAhead: chance(50))
    }

    private mutating func move() -> ModelMove {
        let operation = chance(14) ? outside() : operation(depth: 0, within: [])
        // Mostly skips the comparison after an outside change, so that the next operation is the first to meet it.
        return ModelMove(operation: operation, comparesAll: chance(operation.number == nil ? 30 : 75))
    }

    // MARK: - Operations

    /// - Parameter within: the instances whose updates are in progress.
    private mutating func operation(depth: Int, within: [Int]) -> ModelOperation {
        let number = within.last.map { chance(40) ? $0 : prefs() } ?? prefs()
        switch self.number(in: 0...99) {
        case ..<4: return .get(number, key(of: number))
        case ..<6: return .values(number)
        case ..<8: return .count(number)
        case ..<30: return set(number)
        case ..<36: return .copy(number, from: key(of: number), to: key(of: number))
        case ..<48: return .replace(number, inputs(of: number))
        case ..<53: return swap(number)
        case ..<57: return .clear(number)
        case ..<61: return .deleteAll(number)
        case ..<64: return .flush(number)
        case ..<67: return .move(number, key: root())
        case ..<70:
            // Not inside an update of the instance, because the receiver of the error is not defined there.
            if within.contains(number) { return .flush(number) }
            return .create(number, key: root(), values: chance(40) ? [:] : inputs(of: number))
        case ..<78: return .change(number, steps(of: number, depth: depth, within: within))
        default:
            let isPlain = chance(35)
            let form = one(of: ModelOperation.updates.filter { $0.isOfAccesses == isPlain })
            return .update(number, form, steps(of: number, depth: depth, within: within))
        }
    }

    private mutating func set(_ number: Int) -> ModelOperation {
        if !recent.isEmpty, chance(25) {
            let again = one(of: recent.suffix(6))
            return .set(again.number, again.key, again.input)
        }
        let key = key(of: number)
        if chance(15) { return .set(number, key, nil) }
        if chance(8) { return .remove(number, [key, self.key(of: number)]) }
        let input = input()
        recent.append((number, key, input))
        return .set(number, key, input)
    }

    private mutating func swap(_ number: Int) -> ModelOperation {
        let keys = world.prefs[number].allowed.shuffled(using: &random)
        return .swap(number, keys[0], keys[1], inValues: chance(50))
    }

    private mutating func steps(of number: Int, depth: Int, within: [Int]) -> [ModelStep] {
        var steps: [ModelStep] = []
        for _ in 0..<self.number(in: 0...4) {
            if depth < 2, chance(45) {
                steps.append(.operation(operation(depth: depth + 1, within: within + [number])))
            } else {
                steps.append(.assign(key(of: number), chance(20) ? nil : input()))
            }
        }
        // A change and its reversal within one update are an equal write.
        if chance(8) { steps += Array(repeating: .operation(swap(number)), count: 2) }
        // The access keeps the root with which it began.
        if chance(8) { steps.append(.operation(.move(number, key: root()))) }
        if chance(12) { steps.append(.stop) }
        return steps
    }

    private mutating func outside() -> ModelOperation {
        let place = one(of: ModelPlace.files)
        switch number(in: 0...99) {
        case ..<18: return .reopen
        case ..<48:
            let change = ModelEdit.Change.assign(
                root: one(of: ModelWorld.roots), key: one(of: ModelWorld.keys), value(depth: 0))
            return .foreign(.change(place, change))
        case ..<54: return .foreign(.change(place, .removeRoot(one(of: ModelWorld.roots))))
        case ..<64: return .foreign(.change(place, .spoilRoot(one(of: ModelWorld.roots))))
        case ..<68: return .foreign(.change(place, .rewrite(isXML: chance(50))))
        case ..<75: return .foreign(.remove(place))
        case ..<92: return .foreign(.damage(place, one(of: ModelEdit.Damage.allCases), inPlace: chance(50)))
        default: return .foreign(.link(to: chance(50) ? .binary : .process))
        }
    }

    // MARK: - Arguments

    private mutating func prefs() -> Int { number(in: 0...(world.prefs.count - 1)) }

    private mutating func key(of number: Int) -> String {
        // Sometimes a key that is not allowed. There are few keys, so that operations meet.
        chance(8) ? one(of: ModelWorld.keys + ["unknown"]) : one(of: world.prefs[number].allowed)
    }

    private mutating func root() -> String {
        chance(12) ? one(of: ModelWorld.badRoots) : one(of: ModelWorld.roots)
    }

    private mutating func inputs(of number: Int) -> [String: ModelInput] {
        var inputs: [String: ModelInput] = [:]
        for _ in 0..<self.number(in: 0...4) { inputs[key(of: number)] = input() }
        return inputs
    }

    private mutating func input() -> ModelInput {
        if chance(5) { return .bad(one(of: ModelInput.Bad.allCases)) }
        let value = value(depth: 0)
        return chance(20) ? .foundation(value) : chance(5) ? .optional(value) : .plain(value)
    }

    /// Often one of few values, so that equal writes happen.
    private mutating func value(depth: Int) -> ModelValue {
        switch number(in: 0...13) {
        case 0: .integer(1)
        case 1: .real(1.0)
        case 2: .bool(true)
        case 3: .real(one(of: [-0.0, 0.0, .nan, .infinity, 0.1, Double.leastNonzeroMagnitude, -1e300]))
        case 4: .integer(one(of: [0, -1, 255, 256, 65_536, .max, .min]))
        case 5: .unsigned(.max)
        case 6: .date(one(of: [0, 0.5, 1, 1.25, -1.5, 700_000_000.123_456, -62_135_596_800, 6e16]))
        case 7: .data(one(of: [[], [0], Array(0...255)]))
        case 8, 9: .text(ModelText(one(of: Self.texts)))
        case 10 where depth < 3, 11 where depth < 3: .list((0..<number(in: 0...3)).map { _ in value(depth: depth + 1) })
        case 12 where depth < 3, 13 where depth < 3: dictionary(depth: depth)
        default: .bool(false)
        }
    }

    private mutating func dictionary(depth: Int) -> ModelValue {
        var entries: [ModelText: ModelValue] = [:]
        // One spelling of each letter: two of them cannot be keys of one Swift dictionary.
        let keys = ModelWorld.keys.filter { $0 != "\u{E9}" } + [one(of: ["\u{E9}", "e\u{301}"]), "CF$UID"]
        for _ in 0..<number(in: 0...3) { entries[ModelText(one(of: keys))] = value(depth: depth + 1) }
        if entries.count == 1, entries[ModelText("CF$UID")] != nil { entries[ModelText("a")] = .bool(true) }
        return .dictionary(entries)
    }

    private static let texts = [
        "", "x", "\u{E9}", "e\u{301}", "\u{FEFF}bom", "n\0l", "line\r\nend\t", "\u{1F600}", "<&>]]>", "\u{2028}",
        String(repeating: "long ", count: 60),
    ]

    // MARK: - Chances

    private mutating func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func chance(_ percent: Int) -> Bool { number(in: 0...99) < percent }

    private mutating func one<T>(of choices: some RandomAccessCollection<T>) -> T {
        choices[choices.index(choices.startIndex, offsetBy: number(in: 0...(choices.count - 1)))]
    }
}
