@testable import PrefsSupport

/// Shortens a failing sequence: first by leaving out operations (delta debugging, Zeller and Hildebrandt 2002), then by
/// replacing them by simpler ones.
struct ModelShrinker {
    private let fails: ([ModelMove]) -> Bool
    private var runsLeft: Int

    /// - Parameter fails: whether a sequence still fails, in any way.
    static func shrink(
        _ moves: [ModelMove], runs: Int = 3_000, while fails: @escaping ([ModelMove]) -> Bool
    ) -> [ModelMove] {
        var shrinker = ModelShrinker(fails: fails, runsLeft: runs)
        var moves = moves
        while true {
            let before = shrinker.runsLeft
            var shorter = shrinker.withoutNeedless(moves)
            let isSimpler = shrinker.simplify(&shorter)
            guard shorter.count < moves.count || isSimpler, shrinker.runsLeft > 0, shrinker.runsLeft < before else {
                return shorter
            }
            moves = shorter
        }
    }

    private mutating func stillFails(_ moves: [ModelMove]) -> Bool {
        guard runsLeft > 0 else { return false }
        runsLeft -= 1
        return fails(moves)
    }

    /// Leaves out smaller and smaller pieces, until every operation is needed.
    private mutating func withoutNeedless(_ moves: [ModelMove]) -> [ModelMove] {
        var moves = moves
        var size = max(1, moves.count / 2)
        while true {
            var start = 0
            var isShorter = false
            while start < moves.count {
                var rest = moves
                rest.removeSubrange(start..<min(start + size, moves.count))
                if stillFails(rest) {
                    moves = rest
                    isShorter = true
                } else {
                    start += size
                }
            }
            if size > 1 { size = size / 2 } else if !isShorter { return moves }
        }
    }

    /// Tries the simpler forms of each operation until no form helps.
    private mutating func simplify(_ moves: inout [ModelMove]) -> Bool {
        var isSimpler = false
        for index in moves.indices {
            var goesOn = true
            while goesOn {
                goesOn = false
                for simpler in moves[index].simpler {
                    var candidate = moves
                    candidate[index] = simpler
                    guard stillFails(candidate) else { continue }
                    moves = candidate
                    (goesOn, isSimpler) = (true, true)
                    break
                }
            }
        }
        return isSimpler
    }
}

// MARK: - Simpler forms

extension ModelMove {
    fileprivate var simpler: [ModelMove] {
        let operations = operation.simpler.map { ModelMove(operation: $0, comparesAll: comparesAll) }
        return comparesAll ? operations : [ModelMove(operation: operation, comparesAll: true)] + operations
    }
}

extension ModelOperation {
    fileprivate var simpler: [ModelOperation] {
        switch self {
        case .create(let number, let key, let values):
            simplerInputs(values).map { .create(number, key: key, values: $0) }
        case .set(let number, let key, let input?): input.simpler.map { .set(number, key, $0) }
        case .replace(let number, let values): simplerInputs(values).map { .replace(number, $0) }
        case .change(let number, let steps):
            steps.single(for: number) + steps.innerOperations + simplerSteps(steps).map { .change(number, $0) }
        case .update(let number, let form, let steps):
            steps.single(for: number) + steps.innerOperations
                + simplerSteps(steps).map { .update(number, form, $0) }
        case .foreign(.damage(let place, let damage, let inPlace)) where damage != .text || inPlace:
            [.foreign(.damage(place, .text, inPlace: false))]
        case .foreign(.change(let place, .assign(let root, let key, let value))):
            value.simpler.map { .foreign(.change(place, .assign(root: root, key: key, $0))) }
        default: []
        }
    }
}

extension [ModelStep] {
    /// The operation of a body with one step, without the body.
    fileprivate func single(for number: Int) -> [ModelOperation] {
        if count == 1, case .assign(let key, let input) = self[0] { [.set(number, key, input)] } else { [] }
    }

    /// The operations of a body, without the body.
    fileprivate var innerOperations: [ModelOperation] {
        compactMap { if case .operation(let operation) = $0 { operation } else { nil } }
    }
}

private func simplerSteps(_ steps: [ModelStep]) -> [[ModelStep]] {
    let shorter = steps.indices.map { index in
        var rest = steps
        rest.remove(at: index)
        return rest
    }
    let simpler = steps.indices.flatMap { index in
        let forms: [ModelStep] =
            switch steps[index] {
            case .assign(let key, let input?): input.simpler.map { .assign(key, $0) }
            case .operation(let operation): operation.simpler.map(ModelStep.operation)
            default: []
            }
        return forms.map { form in
            var rest = steps
            rest[index] = form
            return rest
        }
    }
    return shorter + simpler
}

private func simplerInputs(_ values: [String: ModelInput]) -> [[String: ModelInput]] {
    let keys = values.keys.sorted()
    let shorter = keys.map { key in values.filter { $0.key != key } }
    let simpler = keys.flatMap { key in
        values[key]?.simpler.map { input in values.merging([key: input]) { $1 } } ?? []
    }
    return shorter + simpler
}

extension ModelInput {
    fileprivate var simpler: [ModelInput] {
        switch self {
        case .plain(let value): value.simpler.map(ModelInput.plain)
        case .foundation(let value): [.plain(value)] + value.simpler.map(ModelInput.foundation)
        case .optional(let value): [.plain(value)] + value.simpler.map(ModelInput.optional)
        case .bad(let bad): bad == .closure ? [] : [.bad(.closure)]
        }
    }
}

extension ModelValue {
    fileprivate var simpler: [ModelValue] {
        switch self {
        case .integer(1): []
        case .list(let elements) where !elements.isEmpty:
            [.integer(1), .list([])] + elements + [.list(Array(elements.dropLast()))]
        case .dictionary(let entries) where !entries.isEmpty:
            [.integer(1), .dictionary([:])] + entries.sorted { $0.key < $1.key }.map(\.value)
        default: [.integer(1)]
        }
    }
}
