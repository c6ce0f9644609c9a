import Foundation
import PersistentPreferences
import PrefsSettingsFiles

/// Settings whose fields belong together, so that a mixture of two saves is detected.
struct ProbeSettings: SettingsFile {
    var number = 0
    var copies = Array(repeating: 0, count: 50)

    init(number: Int = 0) {
        self.number = number
        copies = Array(repeating: number, count: 50)
    }

    var isWhole: Bool { copies == Array(repeating: number, count: 50) }

    /// Saves one number after the other, and prints each saved number. Runs without an end if no count is given.
    static func save(from first: Int, count: Int?) {
        for number in first..<(count.map { first + $0 } ?? .max) {
            do {
                try ProbeSettings(number: number).trySave()
                say("\(number)")
            } catch {
                say("\(error)")
            }
        }
    }

    /// Loads once and prints the values.
    static func report() {
        var settings = ProbeSettings(number: -1)
        do {
            try settings.tryLoad()
            print(settings.number, settings.isWhole)
        } catch {
            print(error)
        }
    }
}
