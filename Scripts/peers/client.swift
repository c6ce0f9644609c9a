// A program that stores texts with UserDefaults; see client.py.
import Foundation

guard let defaults = UserDefaults(suiteName: "peers") else { fatalError("no such suite") }
setvbuf(stdout, nil, _IOLBF, 0)
while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    switch words[0] {
    case "set":
        let moment = words.count > 3 ? Double(words[3]) ?? 0 : 0
        while Date().timeIntervalSince1970 * 1000 < moment {}
        defaults.set(words[2], forKey: words[1])
        print(defaults.synchronize() ? "ok" : "error: false")
    case "get": print(defaults.string(forKey: words[1]) ?? "default")
    default: print(ProcessInfo.processInfo.environment["SWIFT_VERSION"] ?? "")
    }
}
