import PersistentPreferences

@testable import HarnessCLI
@testable import PrefsTool

/// The preferences of a program that has the tool as its command `myapp prefs`.
final class AppPrefs: Prefs, @unchecked Sendable {
    enum Theme: String, CaseIterable, Codable { case light, dark, solarized }

    @Pref(.help("The colours of all windows.")) var theme = Theme.light
    @Pref(.in(8...72)) var fontSize = 12.0
    @Pref var wraps = true
    @Pref("user name", .formerly("name")) var user = ""

    static var program: Program {
        Program(
            name: "myapp prefs",
            make: { root, store in AppPrefs(key: root, values: nil, store: store ?? PrefsStore.memory()) })
    }
}

/// The commands of `prefs`.
enum PrefsCommands {
    static let all = CommandSpec.all + [Stress.command]

    /// `prefs` with a domain that no test has.
    static var program: Program {
        Program(name: "prefs", target: .suite("none"), commands: all, make: AppPrefs.program.make)
    }
}
