import Foundation
import PersistentPreferences
import PrefsTestSet
import PrefsTool

// The tool on the test set of five values. Its first run stores the sample values.
let suite = "persistentpreferences.harness"
let store = UserDefaultsStore(suiteName: suite)

exit(
    PrefsTool.runWithDomains(Array(CommandLine.arguments.dropFirst()), name: "prefs", suite: suite) { root, other in
        guard root == nil, other == nil else { return PrefsTestSet(key: root, store: other ?? store) }
        let prefs = PrefsTestSet(store: store)
        if prefs.values.isEmpty, prefs.lastError == nil {
            prefs.update { if $0.isEmpty { $0 = PrefsTestSet.defaultValues } }
        }
        return prefs
    })
