import PersistentPreferences
import PrefsEtcd
import PrefsTestSet
package import PrefsTool

/// The program `prefs`: the tool on the test set of five values, on any domain, and on a fleet.
package enum PrefsProgram {
    private static let suite = "persistentpreferences.harness"

    /// Runs a command. Returns the exit code.
    package static func run(_ arguments: [String], in context: ProcessContext = .process) -> Int32 {
        if arguments.first == StressWorker.commandName {
            return StressWorker.run(Array(arguments.dropFirst()), context)
        }
        return PrefsTool.run(
            arguments, name: "prefs", suite: suite, others: [Stress.command],
            storeOfURL: { url throws(PrefsError) in try .etcd(url: url) }, context: context
        ) { root, store in
            PrefsTestSet(key: root, store: store ?? PrefsStore.userDefaults(suite: suite))
        }
    }
}
