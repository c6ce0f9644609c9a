import Foundation
import PersistentPreferences
import PrefsTestSet

/// The test set with declared types, by which layers are parsed and checked.
final class LayeredTestSet: PrefsTestSet, @unchecked Sendable {
    @Pref("Integer Value") private var layeredInt = 0
    @Pref("String Value") private var layeredString = ""
    @Pref("Array Value") private var layeredArray: [String] = []
    @Pref("Dictionary Value") private var layeredDictionary: [String: String] = [:]
    @Pref("Date Value") private var layeredDate = Date.distantPast
}
