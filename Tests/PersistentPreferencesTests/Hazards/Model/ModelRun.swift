@testable import PrefsSupport
import Foundation

/// Runs the model and the library step by step, and compares them.
struct ModelRun {
    /// The first thing in which the two differ.
    struct Difference: Error, CustomStringConvertible {
        let step: Int
        let description: String
    }

    /// The operations and errors of all sequences.
    struct Tally {
        var operations = 0
        /// The errors that occurred, without their arguments.
        var errors: Set<String> = []

        static func += (left: inout Self, right: Self) {
            left.operations += right.operations
            left.errors.formUnion(right.errors)
        }
    }

    private var model: Model
    private let subject: ModelSubject
    private var tally = Tally()
    private var fingerprints: [ModelSubject.Fingerprint] = []

    /// Runs a sequence from an empty state.
    /// - Throws: `Difference`.
    static func run(_ moves: [ModelMove], in world: ModelWorld) throws -> Tally {
        var run = ModelRun(model: Model(world), subject: try ModelSubject(world))
        run.fingerprints = try ModelPlace.files.map(run.subject.fingerprint)
        for (index, move) in moves.enumerated() {
            do {
                try run.step(move)
            } catch {
                throw Difference(step: index, description: "\(error)")
            }
        }
        return run.tally
    }

    private struct Disagreement: Error, CustomStringConvertible {
        let description: String
    }

    private mutating func step(_ move: ModelMove) throws {
        try perform(move.operation)
        guard move.comparesAll else { return }
        for number in model.instances.indices {
            try perform(.values(number))
            // Chosen by the number alone, so that a sequence can be shortened.
            let key = ModelWorld.keys[number % ModelWorld.keys.count]
            try perform(number.isMultiple(of: 2) ? .count(number) : .get(number, key))
        }
    }

    /// Whether an edit would make the link lead nowhere. What is read then depends on the time that has passed.
    private func makesLinkDangle(_ operation: ModelOperation) -> Bool {
        guard case .foreign(let edit) = operation else { return false }
        switch edit {
        case .link(let place): return model[place].content == nil && model[place].damage == nil
        case .remove(let place): return place == model.linkTarget && model.linkFormer != nil
        default: return false
        }
    }

    private mutating func perform(_ operation: ModelOperation) throws {
        if makesLinkDangle(operation) { return }
        tally.operations += 1
        let revisions = ModelPlace.files.map { model[$0].revision }
        subject.perform(operation)
        model.perform(operation)
        try compare(model.trace, subject.trace)
        (model.trace, subject.trace) = ([], [])
        if case .foreign(let edit) = operation {
            try subject.apply(edit)
            try adopt(edit)
            fingerprints = try ModelPlace.files.map(subject.fingerprint)
            return
        }
        let told = subject.takeReported()
        try compare(
            told.enumerated().map { .told($0, model.told($0, beside: $1)) },
            told.enumerated().map { .told($0, $1) })
        for error in model.instances.flatMap(\.told).map(\.error) { tally.errors.insert(error.kind) }
        model.forgetReported()
        for (index, place) in ModelPlace.files.enumerated() {
            let now = try subject.fingerprint(place)
            if model[place].revision != revisions[index] {
                fingerprints[index] = now
                try compareFile(place)
            } else if now != fingerprints[index] {
                // An equal write, a read and a rejection do not touch the file.
                throw Disagreement(description: "\(place): the file was touched")
            }
        }
    }

    private func compareFile(_ place: ModelPlace) throws {
        let content = model[place].damage == nil ? model[place].content : nil
        try compare([.file(place, content)], [.file(place, try subject.found(place).content)])
        let names = try subject.folder.names()
        let asides = model[place].asides.sorted { $0.lexicographicallyPrecedes($1) }
        try compare([.asides(place, asides)], [.asides(place, try subject.asides(place, among: names))])
        if let name = names.first(where: { $0.hasSuffix(".tmp") }) {
            throw Disagreement(description: "\(name) was left behind")
        }
    }

    /// Makes the change of another program the state of the model, as Foundation reads it.
    private mutating func adopt(_ edit: ModelEdit) throws {
        switch edit {
        case .change(let place, _), .remove(let place), .damage(let place, _, _):
            let found = try subject.found(place)
            if case .remove = edit { model[place].lastGood = nil }
            model[place].content = found.content
            model[place].isXML = found.isXML
            model[place].damage = subject.damages[place].map { [UInt8]($0) }
            // An empty file that the library has not written counts as missing.
            if model[place].damage == [], model[place].lastGood == nil { model[place].damage = nil }
            model[place].revision += 1
        case .link(let place):
            model.linkTarget = place
            // The library learns of it at the next access.
            if let number = model.instances.firstIndex(where: { $0.store == .link }) { try perform(.count(number)) }
        }
    }

    private func compare(_ expected: [ModelObservation], _ found: [ModelObservation]) throws {
        guard expected != found else { return }
        let index = zip(expected, found).enumerated().first { $1.0 != $1.1 }?.offset ?? min(expected.count, found.count)
        func text(_ observations: [ModelObservation]) -> String {
            guard index < observations.count else { return "nothing" }
            return "\(observations[index])".replacing("HazardsTests.", with: "")
        }
        throw Disagreement(description: "expected \(text(expected)), found \(text(found))")
    }
}
