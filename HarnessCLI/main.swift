import Foundation
import PersistentPreferences
import PersistentPreferencesEtcd
import PrefsTestSet
import PrefsTool

// The tool on the test set of five values, on any domain, and on a fleet.
let suite = "persistentpreferences.harness"

/// The first look stores the sample values: a documented exception to "reading never writes". In one update, so that a value that another
/// process stores at this moment is kept.
func storeSampleValues(_ prefs: PersistentPrefs) -> String? {
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

exit(
    PrefsTool.runWithDomains(
        Array(CommandLine.arguments.dropFirst()), name: "prefs", suite: suite,
        storeOfURL: { url throws(PrefsError) in try EtcdStore(url: url) }, prepareToShow: storeSampleValues
    ) { root, store in
        PrefsTestSet(key: root, store: store ?? UserDefaultsStore(suiteName: suite))
    })
