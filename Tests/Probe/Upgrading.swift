import PersistentPreferences
import TestSupport

/// Two versions of one program. Each has a property that the other does not know, and the newer version has more fields
/// in a struct.
enum Upgrading {
    private enum Old {
        struct Window: Codable {
            var width = 0
        }

        final class EditorPrefs: PersistentPrefs, @unchecked Sendable {
            @Pref var turns = 0
            @Pref var window = Window()
            @Pref var windows: [String: Window] = [:]

            func takeTurn() {
                turns += 1
                window.width += 1
                windows["main", default: Window()].width += 1
            }
        }
    }

    private enum New {
        struct Window: Codable {
            var width = 0
            var height = 0
            var title = "untitled"

            private enum CodingKeys: CodingKey { case width, height, title }

            init() {}

            // A dictionary has no default for its elements, so the type itself gives the missing fields.
            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: CodingKeys.self)
                width = try fields.decodeIfPresent(Int.self, forKey: .width) ?? 0
                height = try fields.decodeIfPresent(Int.self, forKey: .height) ?? 0
                title = try fields.decodeIfPresent(String.self, forKey: .title) ?? "untitled"
            }
        }

        final class EditorPrefs: PersistentPrefs, @unchecked Sendable {
            @Pref var newTurns = 0
            @Pref var window = Window()
            @Pref var windows: [String: Window] = [:]

            func takeTurn() {
                newTurns += 1
                window.height += 1
                windows["main", default: Window()].height += 1
            }
        }
    }

    /// Changes the values of this version, while the other version changes its values, and prints each failure.
    static func run(isNew: Bool, turns: Int) {
        let (old, new) = (Old.EditorPrefs(), New.EditorPrefs())
        for _ in 0..<turns {
            let prefs: PersistentPrefs = isNew ? new : old
            if let error = prefs.update({ isNew ? new.takeTurn() : old.takeTurn() }).failure { print(error) }
        }
        print(isNew ? "\(new.newTurns) \(new.window.height)" : "\(old.turns) \(old.window.width)")
    }
}
