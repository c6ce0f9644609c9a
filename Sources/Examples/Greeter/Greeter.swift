// A program whose settings come from its arguments, the environment, the user's file and a file of the system, in this
// order.
//
//     swift run Greeter # the defaults in the code, or in /etc/xdg/greeter.plist or .json
//     swift run Greeter --save names Ann,Bob               # remembers it in ~/.config/greeter.plist
//     GREETER_times=3 swift run Greeter -polite no         # for this run only
//     swift run Greeter --show                             # every setting, where it comes from, and what was ignored

import Foundation
import PersistentPreferences
import PrefsLayers

final class GreeterPrefs: Prefs, @unchecked Sendable {
    @Pref(.in(1...5)) var times = 1
    @Pref var names = ["World"]
    @Pref var polite = true

    /// All errors so far. The program has one thread.
    var failures: [PrefsError] = []

    override func prefsDidFail(_ error: PrefsError) {
        failures.append(error)
        // A value in the user's file that does not fit is found by the read.
        if !error.failures.isEmpty { complain(of: error) }
    }
}

func complain(of error: PrefsError) {
    FileHandle.standardError.write(Data("Greeter: \(error)\n".utf8))
}

let environment = ProcessInfo.processInfo.environment
let home = environment["HOME"] ?? "/"
let folder = environment["XDG_CONFIG_HOME"] ?? home + "/.config"
let store = LayeredStore(
    PropertyListFileStore(url: URL(filePath: folder + "/greeter.plist"), layout: .flat),
    above: [.arguments(), .environment(prefix: "GREETER_")], below: [.system("greeter")])
let prefs = GreeterPrefs(store: store)
// A new instance says what it could not read. The program goes on with the rest.
if let error = prefs.lastError { complain(of: error) }

/// Stores a setting in the user's file, from a text that the class parses as it parses the environment.
func save(_ key: String, _ text: String) -> PrefsError? {
    let given = GreeterPrefs(store: LayeredStore(InMemoryStore(), above: [.arguments(["Greeter", "-" + key, text])]))
    guard let value = given[key] else { return given.lastError }
    return prefs.update { $0[key] = value }
}

/// Prints the value that the program uses, where it comes from, and what was ignored for it.
func show<Value>(_ setting: PrefHandle<Value>, _ text: (Value) -> String = { "\($0)" }) {
    let value = setting.value
    // Each fault is told once. Its place names the key: `GREETER_times`, `-times` or `times in FILE`.
    let ignored = prefs.failures.flatMap { error in
        if case .invalidLayer(let faults) = error { return faults }
        return []
    }.filter { $0.place.contains(setting.key) }
    // A stored value that does not fit is still there, but is not used.
    let unfit = prefs.failures.flatMap(\.failures).filter { $0.topLevelKey == setting.key }
    let reasons = ignored.map(\.description) + unfit.map { "stored: \($0)" }
    let isUnfit = !unfit.isEmpty
    let source = "\(isUnfit ? .default : setting.source)"
    let note = reasons.isEmpty ? "" : "; ignored: " + reasons.joined(separator: "; ")
    print("\(setting.key) = \(text(value)) (\(source + note))")
}

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "--save" where arguments.count == 3:
    if let error = save(arguments[1], arguments[2]) {
        complain(of: error)
        exit(1)
    }
case "--show":
    show(prefs.$times)
    show(prefs.$names) { $0.joined(separator: ",") }
    show(prefs.$polite)
default:
    let (times, names, polite) = (prefs.times, prefs.names, prefs.polite)
    for _ in 0..<times {
        for name in names { print(polite ? "Good day, \(name)." : "Hey \(name)!") }
    }
}
