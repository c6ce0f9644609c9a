import Foundation
import PropertyListSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

extension PrefsChange {
    /// The whole change: `Root a: 1 → 2, b: - → 'x'`, with `elsewhere` and `×3` if they apply.
    var text: String {
        let values = keys.map { key in
            "\(key): \(oldValues[key].map(exactForm) ?? "-") → \(newValues[key].map(exactForm) ?? "-")"
        }
        return ([root] + [values.joined(separator: ", ")]).joined(separator: " ")
            + (origin == .elsewhere ? " elsewhere" : "") + (count == 1 ? "" : " ×\(count)")
    }
}

/// Every change that an instance's observer receives, as text. A final change marks the end, so that no earlier change
/// is missed. For one thread.
final class Listener {
    let heard = Heard<String>()
    private let observation: PrefsObservation
    private let prefs: AnyPrefs
    private var taken = 0

    init(_ prefs: AnyPrefs) {
        self.prefs = prefs
        observation = prefs.onChange { [heard] in heard.append($0.text) }
    }

    /// Returns the changes since the last call.
    func take(sourceLocation: SourceLocation = #_sourceLocation) -> [String] {
        let mark = UUID().uuidString
        prefs.update { $0["end"] = mark }
        let all = heard.wait(sourceLocation: sourceLocation) { $0.last?.contains("→ '\(mark)'") == true }
        defer { taken = all.count }
        return Array(all.dropLast().dropFirst(taken))
    }
}

/// The names that observers are tested with; `end` marks the end of a test.
let observedNames = ["a", "b", "c", "end"]
