import Foundation
import PersistentPreferences

/// The same root as in the program.
final class PluginPrefs: Prefs, @unchecked Sendable {
    @Pref var counted = 0
}

/// Counts in the file by this copy of the package. Returns the code of the error, or 0.
@_cdecl("countInPlugin")
public func countInPlugin(_ path: UnsafePointer<CChar>) -> Int32 {
    let file = PrefsStore.propertyList(url: URL(filePath: String(cString: path)))
    let prefs = PluginPrefs(key: "Copies", store: file)
    guard case .failure(let error) = prefs.update({ prefs.counted += 1 }) else { return 0 }
    if case .notStored(let failure) = error { return failure.code }
    return -1
}
