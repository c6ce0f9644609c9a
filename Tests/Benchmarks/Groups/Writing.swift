import Foundation
import PersistentPreferences

extension Group {
    static let writing = Group(
        name: "writing", title: "one value of a 5-key root, durable on return unless said otherwise", sample: 0.01,
        rows: [
            Row("bare-write", "the system calls of the same protocol, last good copy included") {
                try bareWrite($0.file("bare-write"), keepsCopy: true, in: $0)
            },
            Row("bare-write-no-copy", "the same without the copy") {
                try bareWrite($0.file("bare-write-no-copy"), keepsCopy: false, in: $0)
            },
            Row("UserDefaults-write", "UserDefaults: set and synchronize (no lock, in place)") {
                let defaults = try $0.defaults("raw")
                FivePrefs.values.forEach { defaults.set($1, forKey: $0) }
                return .each { number in
                    defaults.set(number, forKey: "x")
                    return defaults.synchronize() ? 1 : 0
                }
            },
            Row("seed-style-write", "a class that loads and saves the whole root through UserDefaults") {
                let prefs = SeedStylePrefs(key: FivePrefs.root, defaults: try $0.defaults("seed-style"))
                prefs.values = FivePrefs.values
                return .each { number in
                    prefs.x = number
                    return 0
                }
            },
            Row("hand-written-file", "PropertyListEncoder and Data.write(.atomic) (no lock, folder not flushed)") {
                var file = HandWrittenFile(url: try $0.file("hand-written-file"))
                return .each { number in
                    try file.write(number)
                    return 0
                }
            },
            Row("SQLite-write", "SQLite, synchronous=FULL, rollback journal") {
                try sqlite(try $0.file("SQLite-write"), journal: "DELETE")
            },
            Row("SQLite-WAL-write", "SQLite, synchronous=FULL, write-ahead log") {
                try sqlite(try $0.file("SQLite-WAL-write"), journal: "WAL")
            },
            Row(
                "write-file", "ours, file store", .times("bare-write", atMost: 1.25),
                .times("bare-write-no-copy", atMost: 1.6), .faster(than: "SQLite-write", atLeast: 1),
                .faster(than: "SQLite-WAL-write"), .faster(than: "UserDefaults-write"),
                .faster(than: "seed-style-write"), .faster(than: "hand-written-file")
            ) { try writes(to: $0.store("write-file")) },
            Row(
                "write-default", "ours, default store", .times("bare-write"), .times("write-file"),
                .faster(than: "UserDefaults-write"), .faster(than: "SQLite-write")
            ) { _ in try writes(to: UserDefaultsStore.standard) },
            Row("write-file-process", "ours, file store, durability: .process (no flush)", .times("write-file")) {
                try writes(to: $0.store("write-file-process", .process))
            },
            Row("write-memory", "ours, InMemoryStore") { _ in try writes(to: InMemoryStore()) },
            Row("update-1-of-100", "update of 1 key, 100-key root", .times("write-file")) {
                let prefs = try HundredPrefs.full(in: $0.store("update-1-of-100"))
                return .each { number in
                    if let error = prefs.update({ $0["key7"] = number + 1 }) { throw error }
                    return 0
                }
            },
            Row(
                "update-100-of-100", "update of 100 keys, 100-key root", .times("update-1-of-100", atMost: 1.5),
                .times("write-file")
            ) {
                let prefs = try HundredPrefs.full(in: $0.store("update-100-of-100"))
                return .each { number in
                    let error = prefs.update { values in
                        for key in ManyKeys.hundred { values[key] = number + 1 }
                    }
                    if let error { throw error }
                    return 0
                }
            },
            Row("write-file-1000", "one value of a 1,000-key root", .times("write-file")) {
                let prefs = try ThousandPrefs.full(in: $0.store("write-file-1000"))
                return .each(verify: prefs.check) { number in
                    prefs.x = number + 2
                    return 0
                }
            },
            Row("equal-write-file", "a write of what is there, file store", .times("write-file")) {
                try equalWrites(to: $0.store("equal-write-file"))
            },
            Row("equal-write-default", "a write of what is there, default store", .times("write-default")) { _ in
                try equalWrites(to: UserDefaultsStore.standard)
            },
        ])

    private static func writes(to store: any PrefsStore) throws -> Operation {
        let prefs = try FivePrefs.full(in: store)
        var last = 1
        func check() throws {
            try prefs.check()
            if prefs.x != last { throw Unavailable("\(prefs.x) is stored in the place of \(last)") }
        }
        return .each(verify: check) { number in
            last = number + 2
            prefs.x = last
            return 0
        }
    }

    private static func equalWrites(to store: any PrefsStore) throws -> Operation {
        let prefs = try FivePrefs.full(in: store)
        prefs.x = 7
        return .each(verify: prefs.check) { _ in
            prefs.x = 7
            return 0
        }
    }

    /// Of the bytes that our own store makes of the same root.
    private static func bareWrite(_ file: URL, keepsCopy: Bool, in place: Place) throws -> Operation {
        let sample = try place.store("bytes-of-\(keepsCopy)")
        _ = try FivePrefs.full(in: sample)
        let write = BareWrite(file, bytes: try Data(contentsOf: sample.url), keepsCopy: keepsCopy)
        return .each { _ in
            try write()
            return 0
        }
    }

    private static func sqlite(_ file: URL, journal: String) throws -> Operation {
        let table = try SQLiteTable(file, journal: journal)
        return .each { number in
            try table.write(number)
            return 0
        }
    }
}
