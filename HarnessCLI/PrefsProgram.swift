import PersistentPreferences
import PersistentPreferencesEtcd
import PrefsTestSet
package import PrefsTool

/// The program `prefs`: the tool on the test set of five values, on any domain, and on a fleet.
package enum PrefsProgram {
    private static let suite = "persistentpreferences.harness"

    /// Runs a command. Returns the exit code.
    package static func run(_ arguments: [String], in context: ProcessContext = .process) -> Int32 {
        PrefsTool.runWithDomains(
            arguments, name: "prefs", suite: suite,
            storeOfURL: { url throws(PrefsError) in try EtcdStore(url: url) }, prepareToShow: storeSampleValues,
            context: context
        ) { root, store in
            PrefsTestSet(key: root, store: store ?? UserDefaultsStore(suiteName: suite))
        }
    }

    /// The first look stores the sample values: a documented exception to "reading never writes". In one update, so that a value that another
    /// process stores at this moment is kept.
    private static func storeSampleValues(_ prefs: PersistentPrefs) -> String? {
        guard prefs.values.isEmpty, prefs.lastError == nil else { return nil }
        var isNew = false
        prefs.update {
            prefs.flush()
            guard case .noStoredPrefsForKey = prefs.lastError else { return }
            prefs.values = PrefsTestSet.defaultValues
            isNew = prefs.lastError == nil
        }
        return isNew ? "nothing was stored yet; stored the sample values" : nil
    }
}
