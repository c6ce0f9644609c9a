import Framework
import PersistentPreferences

final class ColorLampPrefs: LampPrefs, @unchecked Sendable {
    @Pref var color = "white"
}

@main struct Program {
    static func main() {
        let prefs = ColorLampPrefs(store: .memory())
        prefs.brightness = 200
        prefs.color = "red"
        prefs.$brightness.set(20)
        guard prefs.brightness == 20, prefs.color == "red", prefs.allowedKeys == ["brightness", "color"] else {
            fatalError("\(prefs.values)")
        }
        print("ok")
    }
}
