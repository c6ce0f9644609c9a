internal import Foundation
internal import PersistentPreferences

private final class LampPrefs: Prefs, @unchecked Sendable {
    @Pref(.in(0...100)) var brightness = 50
}

/// A module with library evolution that imports the package internally. Then the package needs no library evolution.
public struct Lamp: Sendable {
    private let prefs = LampPrefs(store: .memory())

    /// A lamp of half brightness.
    public init() {}

    /// Between 0 and 100.
    public var brightness: Int {
        get { prefs.brightness }
        nonmutating set { prefs.brightness = newValue }
    }
}

@main struct Program {
    static func main() {
        let lamp = Lamp()
        lamp.brightness += 20
        lamp.brightness = 200
        guard lamp.brightness == 70 else { exit(1) }
        print("ok")
    }
}
