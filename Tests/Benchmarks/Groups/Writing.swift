import Foundation
import PersistentPreferences
import PrefsJSON

extension Group {
    /// The medium is idle when each write begins, as for a program that stores a preference from time to time.
    static let singleWriting = Group(
        name: "single-writing",
        title: "one value of a 5-key root, durable on return, a write each 4 ms; median of a sample",
        sample: 0.002,
        rows: [
            Row("bare-single", "open, write, fsync, rename, fsync of the folder, replaced file closed") {
                let replace = try bareReplacement($0.file("bare-single"), in: $0)
                return .spaced(
                    by: pause,
                    { _ in
                        try replace()
                        replace.closeReplaced()
                    })
            },
            Row("SQLite-single", "SQLite, synchronous=FULL, rollback journal") {
                let table = try SQLiteTable($0.file("SQLite-single"), journal: "DELETE")
                return .spaced(by: pause, { try table.write($0) })
            },
            Row(
                "write-single", "ours, file store", .times("bare-single", atMost: 2),
                .faster(than: "SQLite-single", atLeast: 3)
            ) {
                let prefs = try FivePrefs.full(in: $0.store("write-single"))
                return .spaced(by: pause, { prefs.x = $0 + 2 })
            },
        ])

    private static let pause = 0.004

    static let writing = Group(
        name: "writing", title: "one value of a 5-key root, durable on return unless said otherwise", sample: 0.01,
        rows: [
            Row("bare-replacement", "open, write, fsync, rename, fsync of the folder, replaced file closed") {
                let replace = try bareReplacement($0.file("bare-replacement"), in: $0)
                return .each { _ in
                    try replace()
                    replace.closeReplaced()
                }
            },
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
                    defaults.synchronize()
                }
            },
            Row("hand-written-file", "PropertyListEncoder and Data.write(.atomic) (no lock, folder not flushed)") {
                var file = HandWrittenFile(url: try $0.file("hand-written-file"))
                return .each { try file.write($0) }
            },
            Row("SQLite-write", "SQLite, synchronous=FULL, rollback journal") {
                try sqlite(try $0.file("SQLite-write"), journal: "DELETE")
            },
            Row("SQLite-WAL-write", "SQLite, synchronous=FULL, write-ahead log") {
                try sqlite(try $0.file("SQLite-WAL-write"), journal: "WAL")
            },
            Row(
                "write-file", "ours, file store", .times("bare-replacement", atMost: 1.1),
                .times("bare-write", atMost: 1.25), .times("bare-write-no-copy"),
                .faster(than: "SQLite-write", atLeast: 1.1),
                .faster(than: "SQLite-WAL-write"), .faster(than: "UserDefaults-write"),
                .faster(than: "hand-written-file")
            ) { try writes(to: $0.store("write-file")) },
            Row(
                "write-default", "ours, default store", .times("bare-write"), .times("write-file"),
                .faster(than: "UserDefaults-write"), .faster(than: "SQLite-write")
            ) { _ in try writes(to: PrefsStore.standard) },
            Row("write-file-process", "ours, file store, durability: .crash (no flush)", .times("write-file")) {
                try writes(to: $0.store("write-file-process", .crash))
            },
            Row("write-memory", "ours, in memory") { _ in try writes(to: PrefsStore.memory()) },
            Row("update-1-of-100", "update of 1 key, 100-key root", .times("write-file")) {
                let prefs = try HundredPrefs.full(in: $0.store("update-1-of-100"))
                return .each { number in
                    try prefs.update { $0["key7"] = number + 1 }.get()
                }
            },
            Row(
                "update-100-of-100", "update of 100 keys, 100-key root", .times("update-1-of-100", atMost: 1.5),
                .times("write-file")
            ) {
                let prefs = try HundredPrefs.full(in: $0.store("update-100-of-100"))
                return .each { number in
                    try prefs.update { values in
                        for key in ManyKeys.hundred { values[key] = number + 1 }
                    }.get()
                }
            },
            Row("writes-in-update", "100 subscript writes in an update, 1,000-key root in memory") { _ in
                let prefs = try ThousandPrefs.full(in: PrefsStore.memory())
                return .each { number in
                    try prefs.update { for key in ManyKeys.hundred { prefs[key] = number + 1 } }.get()
                }
            },
            Row("write-file-1000", "one value of a 1,000-key root", .times("write-file", atMost: 1.5)) {
                let prefs = try ThousandPrefs.full(in: $0.store("write-file-1000"))
                return .each(verify: prefs.check) { prefs.x = $0 + 2 }
            },
            Row("bare-text", "bare-replacement with the bytes of write-text") {
                let texts = TextPrefs.texts
                let replace = try BareReplacement($0.file("bare-text"), bytes: Data(texts[0].utf8))
                return .each { _ in
                    try replace()
                    replace.closeReplaced()
                }
            },
            Row(
                "write-text", "one value of 100 KB of text", .times("bare-text", atMost: 1.2),
                .times("write-file", atMost: 2)
            ) {
                let prefs = TextPrefs(store: try $0.store("write-text"))
                let texts = TextPrefs.texts
                return .each(verify: prefs.check) { prefs.text = texts[$0 % 2] }
            },
            Row("json-write", "one value of a 5-key root in JSON", .times("write-file", atMost: 2)) {
                try writes(to: PrefsStore.json(url: $0.file("json-write.json")))
            },
            Row("json-write-1000", "one value of a 1,000-key root in JSON", .times("write-file-1000")) {
                let prefs = try ThousandPrefs.full(in: PrefsStore.json(url: $0.file("json-write-1000.json")))
                return .each(verify: prefs.check) { prefs.x = $0 + 2 }
            },
            Row("json-equal-write", "a write of what is there in JSON", .times("equal-write-file")) {
                try equalWrites(to: PrefsStore.json(url: $0.file("json-equal-write.json")))
            },
            Row("equal-write-file", "a write of what is there, file store", .times("write-file")) {
                try equalWrites(to: $0.store("equal-write-file"))
            },
            Row("equal-write-default", "a write of what is there, default store", .times("write-default")) { _ in
                try equalWrites(to: PrefsStore.standard)
            },
        ])

    private static func writes(to store: PrefsStore) throws -> Operation {
        let prefs = try FivePrefs.full(in: store)
        var last = 1
        func check() throws {
            try prefs.check()
            if prefs.x != last { throw Unavailable("\(prefs.x) is stored in the place of \(last)") }
        }
        return .each(verify: check) { number in
            last = number + 2
            prefs.x = last
        }
    }

    private static func equalWrites(to store: PrefsStore) throws -> Operation {
        let prefs = try FivePrefs.full(in: store)
        prefs.x = 7
        return .each(verify: prefs.check) { _ in prefs.x = 7 }
    }

    /// The bytes of this root in the package's own store.
    private static func bytes(in place: Place, of name: String) throws -> Data {
        let sample = try place.store("bytes-of-\(name)")
        _ = try FivePrefs.full(in: sample)
        return try sample.url.map { try Data(contentsOf: $0) } ?? Data()
    }

    private static func bareReplacement(_ file: URL, in place: Place) throws -> BareReplacement {
        try BareReplacement(file, bytes: bytes(in: place, of: file.lastPathComponent))
    }

    private static func bareWrite(_ file: URL, keepsCopy: Bool, in place: Place) throws -> Operation {
        let bytes = try bytes(in: place, of: file.lastPathComponent)
        let write = BareWrite(file, bytes: bytes, keepsCopy: keepsCopy)
        return .each { _ in try write() }
    }

    private static func sqlite(_ file: URL, journal: String) throws -> Operation {
        let table = try SQLiteTable(file, journal: journal)
        return .each { try table.write($0) }
    }
}
