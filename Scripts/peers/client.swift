// A program that stores texts with UserDefaults; see client.py.
import Foundation

let defaults = UserDefaults(suiteName: "peers")!
setvbuf(stdout, nil, _IOLBF, 0)
while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    switch words[0] {
    case "set":
        while words.count > 3, Date().timeIntervalSince1970 * 1000 < Double(words[3])! {}
        defaults.set(words[2], forKey: words[1])
        print(defaults.synchronize() ? "ok" : "error: false")
    case "get": print(defaults.string(forKey: words[1]) ?? "default")
    default: print(ProcessInfo.processInfo.environment["SWIFT_VERSION"] ?? "")
    }
}
