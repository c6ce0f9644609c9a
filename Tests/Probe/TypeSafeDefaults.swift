import Foundation
import Observation
import PersistentPreferences
import PrefsKeys
import TestSupport

// The keys of seed 003, with their original spelling.
private struct fontSize: PrefKey { static let defaultValue = 12.0 }

private struct username: PrefKey { static let defaultValue: String? = nil }

private struct hasWidgets: PrefKey {
    static let defaultValue = false
    static let stringKey = "Has Widgets"
}

private struct Person: Codable, Equatable {
    var name: String
    var quest: String
    var age: Int
}

private struct testPerson: PrefKey { static let defaultValue: Person? = nil }

private struct largest: PrefKey { static let defaultValue = UInt64(0) }

private struct due: PrefKey { static let defaultValue = Date(timeIntervalSinceReferenceDate: 0.25) }

/// The listing of seed 003, over `UserDefaults.standard` and a suite. Prints a line for each step that fails, then
/// "done".
extension Probe {
    static func typeSafeDefaults() throws {
        let defaults = UserDefaults.standard
        expect(fontSize.value == 12, "the default is read")
        expect(!FileManager.default.fileExists(atPath: domain.path), "no file")
        fontSize.value = 14.0
        fontSize.value += 5.0
        expect(fontSize.value == 19, "+= works on the value")
        expect(AppSettingsValues()[fontSize.self] == 19, "a container without arguments has the standard domain")
        expect(defaults.double(forKey: "fontSize") == 19, "UserDefaults sees it")
        try expect(onDisk("fontSize") as? Double == 19, "it is on disk")

        expect(username.value == nil, "no user name")
        username.value = "Galahad"
        expect(username.value == "Galahad" && defaults.string(forKey: "username") == "Galahad", "a user name")
        username.value = nil
        expect(username.value == nil && defaults.object(forKey: "username") == nil, "nil removes it")
        try expect(onDisk("username") == nil, "on disk, too")

        expect(hasWidgets.get() == false, "get gives the default")
        hasWidgets.set(true)
        expect(hasWidgets.get() && defaults.bool(forKey: "Has Widgets"), "its own string key")

        testPerson.value = Person(name: "Galahad", quest: "the Grail", age: 30)
        testPerson.value?.age += 1
        expect(testPerson.value == Person(name: "Galahad", quest: "the Grail", age: 31), "a Codable value")
        let stored = defaults.dictionary(forKey: "testPerson")
        expect(stored?["quest"] as? String == "the Grail" && stored?["age"] as? Int == 31, "as property-list objects")

        due.value += 0.5
        expect(due.value.timeIntervalSinceReferenceDate == 0.75, "a date keeps its fraction")

        try useAnother()
        mixWithUserDefaults(defaults)
        print("done")
    }

    /// Values that are written through one side are read through the other, synchronized or not.
    private static func mixWithUserDefaults(_ defaults: UserDefaults) {
        defaults.set(21, forKey: "fontSize")
        fontSize.value += 1
        expect(fontSize.value == 22 && defaults.double(forKey: "fontSize") == 22, "what they set is changed")
        defaults.set(23.0, forKey: "fontSize")
        fontSize.value = 23
        expect((try? onDisk("fontSize")) as? Double == 23, "and stored by an equal write")
        let changes = Locked(0)
        withObservationTracking {
            _ = fontSize.value
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        fontSize.value = 24
        expect(changes.withLock { $0 } == 1, "a read is tracked")
        defaults.set("large", forKey: "fontSize")
        expect(fontSize.value == 12, "one of another type gives the default")
        expect(defaults.string(forKey: "fontSize") == "large", "and is kept")
        defaults.set(["name": "Robin", "quest": "the same", "age": 25], forKey: "testPerson")
        expect(testPerson.value == Person(name: "Robin", quest: "the same", age: 25), "objects are read as a value")
        checkUpdates(defaults)
    }

    /// Values that only UserDefaults has are read inside an update, too.
    private static func checkUpdates(_ defaults: UserDefaults) {
        let prefs = ProbePrefs(store: .memory())
        defaults.set(30.0, forKey: "fontSize")
        prefs.update { prefs["count"] = Int(fontSize.value) }
        expect(prefs["count"] as? Int == 30, "a read inside of an update of another store")
        expect(prefs.lastError == nil, "is no write to it")
        if let other = UserDefaults(suiteName: "probe.other") {
            let error = prefs.update { fontSize.set(1, other) }.failure
            expect(error != nil && fontSize.get(other) == 44, "what cannot be rolled back is refused")
        }
        for number in [UInt64.max, 1] {
            largest.value = number
            expect(largest.value == number && largest.value == number, "what UserDefaults shows otherwise")
        }
    }

    private static func useAnother() throws {
        guard let other = UserDefaults(suiteName: "probe.other") else { return print("no suite") }
        expect(hasWidgets.get(other) == false, "another UserDefaults has its own values")
        expect(hasWidgets.set(true, other) == nil, "set gives no error")
        expect(hasWidgets.get(other) && other.bool(forKey: "Has Widgets"), "and is read again")
        fontSize()[other] += 10.0
        expect(fontSize()[other] == 22, "changed in place")
        other[fontSize.self] *= 2
        expect(other[fontSize.self] == 44 && fontSize.value == 19, "the standard one is untouched")
        expect(due.set(Date(timeIntervalSinceReferenceDate: .nan), other) != nil, "no date that is not finite")
        let suite = domain.deletingLastPathComponent().appending(path: "probe.other.plist")
        try expect(propertyList(at: suite)["fontSize"] as? Double == 44, "on disk")
    }

    private static func onDisk(_ key: String) throws -> Any? { try propertyList(at: domain)[key] }

    /// Prints the values that a second process reads.
    static func typeSafeDefaultsRead() {
        print(
            fontSize.value, hasWidgets.value, testPerson.value?.name ?? "nobody",
            due.value.timeIntervalSinceReferenceDate)
    }
}
