import Foundation
import PersistentPreferences

// A program and a plugin that link the package statically: two copies in one process.

final class ProgramPrefs: Prefs, @unchecked Sendable {
    @Pref var counted = 0
}

#if canImport(Darwin)
    let name = "libPlugin.dylib"
#else
    let name = "libPlugin.so"
#endif
let library = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name).path
guard let plugin = dlopen(library, RTLD_NOW), let symbol = dlsym(plugin, "countInPlugin") else {
    fatalError(dlerror().map { String(cString: $0) } ?? library)
}
let path = CommandLine.arguments[1] + "/copies.plist"
let function = unsafeBitCast(symbol, to: (@convention(c) @Sendable (UnsafePointer<CChar>) -> Int32).self)
let prefs = ProgramPrefs(key: "Copies", store: .propertyList(url: URL(filePath: path)))

// A write that could never get its lock fails at once, and the update around it goes on.
precondition(function(path) == 0)
let result = prefs.update {
    precondition(function(path) == EDEADLK)
    prefs.counted += 1
}
if case .failure(let error) = result { fatalError("\(error)") }
precondition(prefs.counted == 2)

// Threads of the two copies wait for one another.
let running = DispatchGroup()
for number in 0..<4 {
    running.enter()
    Thread.detachNewThread { [function, path, prefs] in
        for _ in 0..<100 {
            if number % 2 == 0 {
                if case .failure(let error) = prefs.update({ prefs.counted += 1 }) { fatalError("\(error)") }
            } else {
                precondition(function(path) == 0)
            }
        }
        running.leave()
    }
}
running.wait()
precondition(prefs.counted == 402)
print("two copies count to \(prefs.counted)")
