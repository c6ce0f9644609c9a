import PrefsFileEngine
import PrefsPropertyLists

extension RootView {
    /// The rules that this state violates. Runs code of the class, whose reads see this state and report nothing.
    var violatedRules: [(number: Int, text: String)] {
        guard let owner = instance.owner, case let rules = instance.declarations.rules, !rules.isEmpty else {
            return []
        }
        let entry = EntryState(entry, in: layers.map { LayersOfRoot($0, of: rootKey) })
        return PreviousStateRead(entry, of: instance).asCurrent {
            Transaction.rejectingWrites {
                rules.enumerated().compactMap { number, rule in rule.violation(owner).map { (number, $0) } }
            }
        }
    }
}
