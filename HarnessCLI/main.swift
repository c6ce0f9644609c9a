import Foundation
import PersistentPreferences
import PrefsTestSet

let url = URL(filePath: CommandLine.arguments[1])
let p = PrefsTestSet.withStore(PropertyListFileStore(url: url)) { PrefsTestSet(key: "A") }
print(p.values, p.lastError as Any)
p.int += 1
print(p.int, p.lastError as Any)
p.values["Array Value"] = ["x", ["y": {}]] as [Any]
print(p.lastError as Any, p.lastError.map { "\($0)" } as Any)
let e = p.update { $0["Integer Value"] = 7; p.string = "nested"; $0["Date Value"] = nil }
print(e as Any, p.values)
let start = Date()
for i in 0..<1000 { p.int = i }
print(Date().timeIntervalSince(start))
let s2 = Date()
var t = 0
for _ in 0..<100000 { t += p.int }
print(Date().timeIntervalSince(s2) / 100000)
