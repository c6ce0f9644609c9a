import PersistentPreferences
import PrefsJSON

/// The roots of a store with a URL.
enum RootList {
    /// The names, if the command is about all of them.
    ///
    /// - Returns: nil for another place.
    static func outcome(_ invocation: Invocation) throws -> Outcome? {
        guard let target = try invocation.target(), target.hasRootsOnly, invocation.operands.isEmpty,
            !invocation.options.has(.root),
            let store = try target.store(of: invocation.program) as? any ListingStore
        else { return nil }
        let names = try store.rootNames()
        return invocation.wantsJSON
            ? Outcome(output: names.json + "\n", as: .json)
            : Outcome(output: names.map { $0.printable + "\n" }.joined())
    }
}
