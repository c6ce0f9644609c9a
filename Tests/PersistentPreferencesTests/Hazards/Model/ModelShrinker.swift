@testable import PrefsSupport

/// Shortens a failing sequence: first by leaving out operations (delta debugging, Zeller and Hildebrandt 2002), then by
/// leaving out keys and steps of them. Values stay as they are.
enum ModelShrinker {
    /// - Parameter fails: whether a sequence still fails, in any way.
    static func shrink(_ moves: [ModelMove], while fails: ([ModelMove]) -> Bool) -> [ModelMove] {
        var (moves, runsLeft) = (moves, 3_000)
        func stillFails(_ moves: [ModelMove]) -> Bool {
            runsLeft -= 1
            return runsLeft >= 0 && fails(moves)
        }
        while let next = moves.shorter.first(where: stillFails) ?? moves.simpler.first(where: stillFails) {
            moves = next
        }
        return moves
    }
}

// MARK: - Simpler forms

extension [ModelMove] {
    /// Without a piece, the largest pieces first.
    fileprivate var shorter: [Self] {
        sequence(first: Swift.max(1, count / 2)) { $0 > 1 ? $0 / 2 : nil }.flatMap { size in
            stride(from: 0, to: count, by: size).map { start in Array(self[..<start] + dropFirst(start + size)) }
        }
    }

    /// With a simpler form of one of the operations.
    fileprivate var simpler: [Self] {
        indices.flatMap { index in
            self[index].simpler.map { simpler in
                var moves = self
                moves[index] = simpler
                return moves
            }
        }
    }
}

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
