import Foundation
import PersistentPreferences

/// Settings whose fields belong together: a file that mixes two saves shows.
struct ProbeSettings: SettingsFile {
    var number = 0
    var copies = Array(repeating: 0, count: 50)

    init(number: Int = 0) {
        self.number = number
        copies = Array(repeating: number, count: 50)
    }

    var isWhole: Bool { copies == Array(repeating: number, count: 50) }

    /// Saves one number after the other, and says each that is saved. Without an end where none is given.
    static func save(from first: Int, count: Int?) {
        for number in first..<(count.map { first + $0 } ?? .max) {
            do {
                try ProbeSettings(number: number).trySave()
                print(number)
            } catch {
                print(error)
            }
            fflush(nil)
        }
    }

    /// Loads once and says what is there.
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
