import Foundation
import RVS_PersistentPrefs
import TestSupport

/// The members of `RVS_PersistentPrefs` that select a `UserDefaults`, over files in its own home. Prints a line for
/// each step that fails, then "done".
enum DropIn {
    private class Base: RVS_PersistentPrefs, @unchecked Sendable {
        override var keys: [String] { ["first", "second"] }
    }

    private final class Other: Base, @unchecked Sendable {}

    private final class Injected: RVS_PersistentPrefs, @unchecked Sendable {
        var injected: UserDefaults?
        override var keys: [String] { ["first", "second"] }
        override var userDefaults: UserDefaults? { injected }

        init(_ injected: UserDefaults?, key: String = "preferences", values: [String: Any]? = nil) {
            self.injected = injected
            super.init(key: key, values: values)
        }
    }

    static func run() throws {
        try groups()
        try injection()
        print("done")
    }

    private static func onDisk(_ domain: String, _ root: String) throws -> [String: Int]? {
        let folder = Probe.domain.deletingLastPathComponent()
        let file = domain.isEmpty ? Probe.domain : folder.appending(path: "\(domain).plist")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try propertyList(at: file)[root] as? [String: Int]
    }

    private static func groups() throws {
        let before = Base(values: ["first": 1])
        Probe.expect(before.userDefaults === UserDefaults.standard, "without a group, the standard UserDefaults")
        RVS_PersistentPrefs.groupID = "probe.group"
        Probe.expect(Base.groupID == "probe.group" && Other.groupID == "probe.group", "a group for every class")
        let prefs = Base(values: ["first": 2])
        Probe.expect(
            prefs.userDefaults?.dictionary(forKey: "Base") as? [String: Int] == ["first": 2], "UserDefaults sees it")
        try Probe.expect(onDisk("probe.group", "Base") == ["first": 2], "in the file of the suite")
        try Probe.expect(onDisk("", "Base") == ["first": 1], "nothing was moved")
        before["second"] = 3
        try Probe.expect(onDisk("", "Base") == ["first": 1, "second": 3], "an instance keeps its store")

        Other.groupID = "probe.other"
        Other()["first"] = 4
        try Probe.expect(onDisk("probe.other", "Other") == ["first": 4], "a group of one class")
        try Probe.expect(onDisk("probe.group", "Other") == nil && Base()["first"] as? Int == 2, "is not that of others")
        Other()["second"] = 5
        Probe.expect(Other().values as? [String: Int] == ["first": 4, "second": 5], "its instances agree")

        for name in ["a/b", ".hidden", String(repeating: "n", count: 201)] {
            Other.groupID = name
            let prefs = Other(values: ["first": 6])
            if case .invalidName(name: name, reason: _)? = prefs.lastError {} else { print("accepted:", name) }
            Probe.expect(prefs.values.isEmpty && prefs.lastError != nil, "nothing is read under a bad name")
        }
        Other.groupID = ""
        Other()["first"] = 7
        try Probe.expect(onDisk("", "Other") == ["first": 7], "an empty group is the standard domain")
        Other.groupID = nil
        RVS_PersistentPrefs.groupID = nil
    }

    /// The behavior of version 1.7 with a `UserDefaults` of the test.
    private static func injection() throws {
        guard let suite = UserDefaults(suiteName: "probe.injected") else { return print("no suite") }
        suite.set(["first": 1, "second": 2], forKey: "preferences")
        suite.set("keep", forKey: "unrelated")
        let prefs = Injected(suite, values: ["first": 3])
        Probe.expect(prefs.lastError == nil && prefs.values as? [String: Int] == ["first": 3, "second": 2], "merged")
        suite.register(defaults: ["registered": ["first": 9]])
        let registered = Injected(suite, key: "registered")
        Probe.expect(registered["first"] as? Int == 9, "a UserDefaults is used as it is, with registered defaults")
        registered["second"] = 1
        Probe.expect(suite.dictionary(forKey: "registered") as? [String: Int] == ["second": 1], "which are not stored")
        registered.deleteAll()
        prefs["first"] = 4
        prefs.values["second"] = nil
        Probe.expect(suite.dictionary(forKey: "preferences") as? [String: Int] == ["first": 4], "written at once")
        try Probe.expect(onDisk("probe.injected", "preferences") == ["first": 4], "to the file, too")
        suite.set(["first": 5], forKey: "preferences")
        Probe.expect(Injected(suite)["first"] as? Int == 5 && prefs["first"] as? Int == 5, "what others set is read")

        let other = Injected(suite, key: "another")
        let failure = prefs.update {
            prefs["first"] = 6
            other["second"] = 7
        }.failure
        Probe.expect(failure == nil && prefs["first"] as? Int == 6 && other["second"] as? Int == 7, "one transaction")
        struct Stop: Error {}
        _ = try? prefs.update {
            prefs["first"] = 8
            other["second"] = 9
            throw Stop()
        }
        Probe.expect(prefs["first"] as? Int == 6 && other["second"] as? Int == 7, "which is rolled back whole")

        let changes = Locked([[String]]())
        let heard = DispatchSemaphore(value: 0)
        let observation = prefs.onChange { change in
            changes.withLock { $0.append(change.keys) }
            heard.signal()
        }
        Injected(suite)["second"] = 10
        heard.wait()
        Probe.expect(changes.withLock { $0 } == [["second"]], "a change through another instance is observed")
        observation.cancel()

        suite.set("no dictionary", forKey: "preferences")
        Probe.expect(prefs.values.isEmpty, "what is no dictionary reads as empty")
        if case .rootIsNotDictionary(key: "preferences")? = prefs.lastError {} else { print("no error") }
        prefs["first"] = 1
        Probe.expect(suite.string(forKey: "preferences") == "no dictionary" && prefs.lastError != nil, "and is kept")
        prefs.deleteAll()
        Probe.expect(prefs.lastError == nil && suite.object(forKey: "preferences") == nil, "until it is deleted")
        prefs["first"] = 11
        prefs.injected = nil
        Probe.expect(prefs.values.isEmpty, "nothing of a former UserDefaults is read")
        if case .userDefaultsUnavailable? = prefs.lastError {} else { print("no error without UserDefaults") }
        prefs["first"] = 12
        prefs.injected = suite
        Probe.expect(prefs.values as? [String: Int] == ["first": 11] && prefs.lastError == nil, "and it is read again")
        Probe.expect(suite.string(forKey: "unrelated") == "keep", "other entries stay")
    }
}
