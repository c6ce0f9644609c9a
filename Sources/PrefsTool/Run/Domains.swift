import Foundation
import PersistentPreferences
import PrefsJSON

/// The UserDefaults domains of the user.
struct Domains {
    private let invocation: Invocation

    /// - Throws: `UsageError` if the user names a place as well.
    init(_ invocation: Invocation) throws(UsageError) {
        self.invocation = invocation
        let option = [OptionSpec.root, .layers, .layer].first(where: invocation.options.has)?.name
        if let option = invocation.place == nil ? option : OptionSpec.place.name {
            throw UsageError("--domains takes all domains; leave out --domains or \(option)")
        }
    }

    /// The names of all UserDefaults domains.
    func list() throws -> Outcome {
        let names = try DomainNames.all()
        return invocation.wantsJSON
            ? Outcome(output: names.json + "\n", as: .json)
            : Outcome(output: names.map { $0.printable + "\n" }.joined())
    }

    /// The entries of all readable domains, without secrets, and the reasons why other domains cannot be read.
    func entries() throws -> (domains: [String: StoredValue], failures: [String]) {
        var domains: [String: StoredValue] = [:]
        var failures: [String] = []
        for name in try DomainNames.all() {
            do {
                let place = try Place(
                    entriesOf: .suite(name), in: invocation.program, reveals: invocation.options.has(.reveal))
                let (values, failure) = try place.read()
                if let values { domains[name] = place.secrets.shown(.dictionary(values), at: []) }
                if let failure { failures.append("\(failure)") }
            } catch {
                failures.append("\(error)")
            }
        }
        return (domains, failures)
    }
}
