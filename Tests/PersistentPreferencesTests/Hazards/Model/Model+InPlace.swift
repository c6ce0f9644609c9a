@testable import PrefsSupport

/// Changes in place: a snapshot, other operations, and the difference at the end.
extension Model {
    /// The start of a change in place.
    struct Start {
        var access: Access
        var values: Content = [:]
        var failure: ModelError?
    }

    mutating func change(_ number: Int, _ steps: [ModelStep]) {
        let start = self.start(number)
        if let after = run(steps, on: start.values) {
            end(number, start, after)
        } else {
            report(number, start.access.warning ?? start.failure)
            trace.append(.threw)
        }
    }

    mutating func swap(_ number: Int, _ one: String, _ other: String, inValues: Bool) {
        let (one, other) = (ModelText(one), ModelText(other))
        if inValues {
            // Two accesses, each with its own snapshot. The second ends first.
            let (first, second) = (start(number), start(number))
            var values = second.values.mapValues(ModelInput.plain)
            values[other] = first.values[one].map(ModelInput.plain)
            end(number, second, values)
            values = first.values.mapValues(ModelInput.plain)
            values[one] = second.values[other].map(ModelInput.plain)
            end(number, first, values)
        } else {
            let (first, second) = (get(number, one.text), get(number, other.text))
            set(number, other.text, first.map(ModelInput.plain))
            set(number, one.text, second.map(ModelInput.plain))
        }
    }

    private mutating func start(_ number: Int) -> Start {
        var start = Start(access: Access(number: number, root: instances[number].key))
        do throws(ModelError) {
            guard Self.isLegal(start.access.root) else { throw .invalidName(start.access.root) }
            start.values = visible(number, in: try look(&start.access))
        } catch {
            start.failure = error
        }
        return start
    }

    private mutating func end(_ number: Int, _ start: Start, _ after: [ModelText: ModelInput]) {
        let allowed = instances[number].allowed
        write(number, from: start.access) { model, access throws(ModelError) in
            if let failure = start.failure { throw failure }
            try model.commit(&access, Change(from: start.values, to: after, allowed))
        }
    }
}
