@testable import PrefsSupport
import Testing
import WriteOperations

/// Random sequences of operations over several instances, roots, stores and reopenings, compared step by step with a
/// plain dictionary. `PREFS_MODEL_SEED=n` repeats one of them.
@Suite struct ModelTests {
    private static let errors: Set = [
        "incorrectKeys", "incompatible", "nothingStored", "invalidName", "notDictionary", "damaged",
        "damaged, quarantined", "notOurs", "notInXML", "otherStore", "stopped",
    ]

    @Test func everyOperationIsModelledOrLeftOut() {
        let (modelled, leftOut) = (ModelOperation.modelled, ModelOperation.leftOut)
        #expect(modelled.isDisjoint(with: leftOut) && modelled.union(leftOut) == Set(WriteOperation.allCases))
    }

    @Test func aFailingSequenceIsMadeShort() {
        let isReopen = { (move: ModelMove) in if case .reopen = move.operation { true } else { false } }
        let moves = ModelGenerator.make(seed: 1, count: 60).moves
        #expect(moves.filter(isReopen).count > 1)
        let short = ModelShrinker.shrink(moves) { $0.contains(where: isReopen) }
        #expect(short.count == 1 && short.allSatisfy(isReopen))
    }

    @Test func theLibraryDoesWhatADictionaryDoes() throws {
        let single = UInt64(Hazard.count("PREFS_MODEL_SEED", default: 0))
        let seeds =
            single > 0
            ? single...single : 1...UInt64(Hazard.count("PREFS_MODEL_SEEDS", default: Hazard.count(8, long: 24)))
        let length = Hazard.count("PREFS_MODEL_LENGTH", default: 60)
        var tally = ModelRun.Tally()
        var (sequences, differences) = (0, 0)
        for seed in seeds {
            let (world, moves) = ModelGenerator.make(seed: seed, count: length)
            sequences += 1
            do {
                tally += try ModelRun.run(moves, in: world)
            } catch let difference as ModelRun.Difference {
                differences += 1
                Issue.record("\(ModelFailure.explain(difference, seed: seed, world, moves))")
                // Stops early, because shortening takes time and the first differences are the most useful.
                if differences == 3 { break }
            }
        }
        Hazard.report("model: \(sequences) sequences, \(tally.operations) operations, \(differences) differences")
        // The sequences must produce all errors, because otherwise they prove little.
        if seeds.count >= 20, differences == 0 { #expect(tally.errors == Self.errors) }
    }
}

/// The report of a difference: its seed, and the shortest sequence that shows it.
enum ModelFailure {
    static func explain(
        _ difference: ModelRun.Difference, seed: UInt64, _ world: ModelWorld, _ moves: [ModelMove]
    ) -> String {
        let short = ModelShrinker.shrink(Array(moves.prefix(difference.step + 1))) { result(of: $0, in: world) != nil }
        var lines = ["model: seed \(seed), step \(difference.step): \(difference)"]
        lines += world.prefs.enumerated().map { "prefs \($0): \($1)" }
        lines.append("the clock is ahead: \(world.isClockAhead)")
        lines.append("shrunk to \(short.count) of \(moves.count) operations:")
        lines += short.enumerated().map { "  \($0): \($1)" }
        let last = result(of: short, in: world) ?? difference
        lines.append("step \(last.step): \(last)")
        return lines.joined(separator: "\n").replacing("HazardsTests.", with: "")
    }

    private static func result(of moves: [ModelMove], in world: ModelWorld) -> ModelRun.Difference? {
        do {
            _ = try ModelRun.run(moves, in: world)
            return nil
        } catch {
            return error as? ModelRun.Difference
        }
    }
}
