import Foundation
import PersistentPreferences

extension Group {
    static let opening = Group(
        name: "opening", title: "opening an instance, goal ≤ 20 µs beyond the first load",
        rows: [
            Row("open-5", "5 declared properties, a file that is loaded") {
                let store = try $0.store("open-5")
                _ = try FivePrefs.full(in: store)
                return try .reads { FivePrefs(store: store).lastError == nil ? 1 : 0 }
            },
            Row("open-16", "16 declared properties", .times("open-5")) {
                let store = try $0.store("open-16")
                SixteenPrefs(store: store).number1 = 5
                return try .reads { SixteenPrefs(store: store).lastError == nil ? 1 : 0 }
            },
            Row("open-16-and-read", "16 declared properties, one of them read", .times("open-16")) {
                let store = try $0.store("open-16-and-read")
                SixteenPrefs(store: store).number1 = 5
                return try .reads { SixteenPrefs(store: store).number1 }
            },
            Row("open-unmigrated", "a root that 50 migrations change, read", .times("open-16-and-read")) {
                let url = try $0.file("open-unmigrated")
                try PropertyListEncoder().encode(["MigratedPrefs": ["number": 5]]).write(to: url)
                let store = PrefsStore.propertyList(url: url)
                return try .reads { MigratedPrefs(store: store).number }
            },
            Row("load-5", "the first load of a file too, 5-key root: a new store each time", .times("open-5")) {
                let url = try $0.file("load-5")
                _ = try FivePrefs.full(in: PrefsStore.propertyList(url: url))
                return try .reads { FivePrefs(store: .propertyList(url: url)).x }
            },
            Row("load-1000", "the same, 1,000-key root") {
                let url = try $0.file("load-1000")
                _ = try ThousandPrefs.full(in: PrefsStore.propertyList(url: url))
                return try .reads { ThousandPrefs(store: .propertyList(url: url)).x }
            },
            Row("foundation-load-1000", "reading the file and PropertyListSerialization") {
                let url = try $0.file("foundation-load-1000")
                _ = try ThousandPrefs.full(in: PrefsStore.propertyList(url: url))
                return try .reads {
                    let object = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
                    return (object as? [String: Any])?.count ?? 0
                }
            },
        ])
}

/// A class with 50 versions.
private final class MigratedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var number = 0

    override class var migrations: [PrefsMigration] {
        (1...50).map { version in
            PrefsMigration(to: version) { values in values["number"] = (values["number"] as? Int ?? 0) + 1 }
        }
    }
}
