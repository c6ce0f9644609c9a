@testable import PrefsSupport

/// Shortens a failing sequence: first by leaving out operations (delta debugging, Zeller and Hildebrandt 2002), then by
/// leaving out keys and steps of them. Values stay as they are.
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
            values.shorter.map { .create(number, key: key, values: $0) }
        case .replace(let number, let values): values.shorter.map { .replace(number, $0) }
        case .change(let number, let steps):
            steps.single(for: number) + steps.innerOperations + steps.simpler.map { .change(number, $0) }
        case .update(let number, let form, let steps):
            steps.single(for: number) + steps.innerOperations + steps.simpler.map { .update(number, form, $0) }
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

    /// Without one of the steps, or with a simpler operation in its place.
    fileprivate var simpler: [[ModelStep]] {
        indices.flatMap { index -> [[ModelStep]] in
            var forms: [[ModelStep]] = [[]]
            if case .operation(let operation) = self[index] { forms += operation.simpler.map { [.operation($0)] } }
            return forms.map { Array(self[..<index]) + $0 + self[(index + 1)...] }
        }
    }
}

extension [String: ModelInput] {
    /// Without one of the keys.
    fileprivate var shorter: [Self] { keys.sorted().map { key in filter { $0.key != key } } }
}
