import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsKeys
import PrefsLayers

extension Group {
    /// The standard domain has only roots with 5 keys while this runs, because larger ones would slow down raw
    /// UserDefaults.
    static let reading = Group(
        name: "reading", title: "one value, one thread",
        rows: [
            Row("fstat", "one fstat of an open file") {
                let descriptor = open(try $0.file("fstat").deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
                var status = stat()
                return try .reads {
                    fstat(descriptor, &status)
                    return Int(status.st_nlink)
                }
            },
            Row("UserDefaults-integer", "UserDefaults.standard.integer(forKey:) of a flat key") { _ in
                UserDefaults.standard.set(1, forKey: "flatNumber")
                return try .reads { UserDefaults.standard.integer(forKey: "flatNumber") }
            },
            Row("UserDefaults-object", "UserDefaults.standard.object(forKey:) of a flat key") { _ in
                UserDefaults.standard.set(1, forKey: "flatObject")
                return try .reads { UserDefaults.standard.object(forKey: "flatObject") == nil ? 0 : 1 }
            },
            Row("locked-dictionary", "lock, lookup and cast") {
                let dictionary = try LockedDictionary(file: $0.file("locked-dictionary"))
                return try .reads { dictionary.number("x") }
            },
            Row("fstat-and-dictionary", "fstat, lock, lookup and cast") {
                let dictionary = try LockedDictionary(file: $0.file("fstat-and-dictionary"))
                return try .reads { dictionary.validatedNumber("x") }
            },
            Row("UserDefaults-dictionary", "UserDefaults.standard.dictionary(forKey:)?[\"x\"] as? Int, 5-key root") {
                _ in
                _ = try FivePrefs.full(in: PrefsStore.standard)
                return try .reads { UserDefaults.standard.dictionary(forKey: FivePrefs.root)?["x"] as? Int ?? 0 }
            },
            Row(
                "typed-read-default", "typed read, 5-key root, default store",
                .times("fstat-and-dictionary", atMost: 1.5), .faster(than: "UserDefaults-dictionary", atLeast: 10),
                .faster(than: "UserDefaults-integer", atLeast: 2.5)
            ) { _ in
                try typedReads(in: PrefsStore.standard)
            },
            Row(
                "typed-read-file", "typed read, 5-key root, file store", .times("fstat", atMost: 3),
                .times("fstat-and-dictionary"), .times("typed-read-default")
            ) {
                try typedReads(in: $0.store("typed-read-file"))
            },
            Row(
                "read-five-file", "five typed reads in one read, file store", .times("typed-read-file", atMost: 3.5)
            ) {
                let prefs = try FivePrefs.full(in: $0.store("read-five-file"))
                return try .reads(verify: prefs.check) {
                    prefs.read {
                        prefs.x + prefs.name.utf8.count + Int(prefs.ratio) + (prefs.isOn ? 1 : 0) + prefs.words.count
                    }
                }
            },
            Row(
                "typed-read-layered", "typed read, arguments and environment above a file store, values below",
                .times("typed-read-file", atMost: 1.2)
            ) {
                let store = PrefsStore.layered(
                    try $0.store("typed-read-layered"), above: [.arguments(), .environment(prefix: "BENCHMARK_")],
                    below: [.values(["y": 1])])
                return try typedReads(in: store)
            },
            Row("typed-read-layer-file", "the same with a JSON file above", .times("typed-read-layered")) {
                let file = try $0.file("typed-read-layer-file").appendingPathExtension("json")
                try Data(#"{"FivePrefs": {"y": 1}}"#.utf8).write(to: file)
                let store = PrefsStore.layered(
                    try $0.store("typed-read-layer-file"), above: [.environment(prefix: "BENCHMARK_"), .file(file)])
                return try typedReads(in: store)
            },
            Row(
                "typed-read-flat", "typed read, file store with the layout .flat",
                .times("typed-read-file", atMost: 1.2)
            ) {
                let store = PrefsStore.propertyList(url: try $0.file("typed-read-flat"), layout: .flat)
                return try typedReads(in: store)
            },
            Row("json-read", "the first read of a changed file, 5-key root in JSON", .times("typed-read-file")) {
                let prefs = try FivePrefs.full(in: PrefsStore.json(url: $0.file("json-read.json")))
                return try .reads(verify: prefs.check) {
                    prefs.reload()
                    return prefs.x
                }
            },
            Row("typed-read-memory", "typed read, 5-key root, in memory", .times("locked-dictionary")) { _ in
                try typedReads(in: PrefsStore.memory())
            },
            Row("subscript-object-file", "prefs[\"x\"], file store", .times("typed-read-file", atMost: 1.5)) {
                let prefs = try FivePrefs.full(in: $0.store("subscript-object-file"))
                return try .reads(verify: prefs.check) { prefs["x"] == nil ? 0 : 1 }
            },
            Row(
                "subscript-read-file", "the same, as? Int", .times("typed-read-file"), .times("fstat-and-dictionary")
            ) {
                let prefs = try FivePrefs.full(in: $0.store("subscript-read-file"))
                return try .reads(verify: prefs.check) { prefs["x"] as? Int ?? 0 }
            },
            Row(
                "values-read-file", "prefs.values[\"x\"] as? Int, file store", .times("typed-read-file"),
                .times("fstat-and-dictionary")
            ) {
                let prefs = try FivePrefs.full(in: $0.store("values-read-file"))
                return try .reads(verify: prefs.check) { prefs.values["x"] as? Int ?? 0 }
            },
            Row(
                "typed-read-1000", "typed read, 1,000-key root, file store", .times("typed-read-file", atMost: 1.2)
            ) {
                let prefs = try ThousandPrefs.full(in: $0.store("typed-read-1000"))
                return try .reads(verify: prefs.check) { prefs.x }
            },
            Row("subscript-read-1000", "prefs[\"x\"] as? Int, 1,000-key root", .times("subscript-read-file")) {
                let prefs = try ThousandPrefs.full(in: $0.store("subscript-read-1000"))
                return try .reads(verify: prefs.check) { prefs["x"] as? Int ?? 0 }
            },
            Row("codable-reread", "a Codable value that has not changed", .times("typed-read-file")) {
                let prefs = TreePrefs(store: try $0.store("codable-reread"))
                prefs.tree = Tree.samples[0]
                return try .reads(verify: prefs.check) { prefs.tree.sections.count }
            },
            Row(
                "pref-key-read", "PrefKey value, UserDefaults.standard", .times("UserDefaults-object", atMost: 2)
            ) { _ in
                benchmarkNumber.set(1)
                return try .reads { benchmarkNumber.value }
            },
            Row(
                "app-setting-read", "@AppSetting value, UserDefaults.standard",
                .times("UserDefaults-object", atMost: 2)
            ) { _ in
                let settings = BenchmarkSettings()
                settings.number = 1
                return try .reads { settings.number }
            },
        ])

    private static func typedReads(in store: PrefsStore) throws -> Operation {
        let prefs = try FivePrefs.full(in: store)
        return try .reads(verify: prefs.check) { prefs.x }
    }
}

private struct BenchmarkSettings {
    @AppSetting("benchmarkSetting") var number = 0
}

/// A key for the benchmarks. The name of the type is the key.
struct benchmarkNumber: PrefKey {
    static let defaultValue = 0
}
