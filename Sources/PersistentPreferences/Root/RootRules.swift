import PrefsFileEngine
import PrefsPropertyLists

extension RootView {
    /// The rules that this state violates. Runs code of the class, whose reads see this state and report nothing.
    var violatedRules: [(number: Int, text: String)] {
        guard let owner = instance.owner, case let rules = instance.declarations.rules, !rules.isEmpty else {
            return []
        }
        let entry = EntryState(entry, in: layers.map { LayersOfRoot($0, of: rootKey) })
        return PreviousStateRead(entry, of: instance).rejectingWrites {
            rules.enumerated().compactMap { number, rule in rule.violation(owner).map { (number, $0) } }
        }
    }
}

extension Root {
    /// The rules of a class judge what a transaction as a whole would store: each write in it may violate them for a while. A
    /// rule that the state before violated, too, rejects nothing, so that a person's mistake in a file blocks no other key.
    func judge(afterwards transaction: Transaction) throws {
        // An update of a backend is around the transaction of each write in it.
        try (roots.domain?.transaction ?? transaction).beforeCommit(of: key, for: instance) {
            let before = try view(in: transaction)
            return { whole in
                var ignored = AccessOutcome()
                let after = try whole.isChanged ? view(in: whole) : view(isForWriting: true, &ignored)
                let violated = after.violatedRules
                let former = violated.isEmpty ? [] : before.violatedRules.map(\.number)
                let new = violated.filter { !former.contains($0.number) }
                if !new.isEmpty { throw PrefsError.ruleViolated(new.map(\.text)) }
            }
        }
    }
}
