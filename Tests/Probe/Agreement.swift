import Foundation
import PersistentPreferences
import PrefsKeys
import TestSupport

private struct ProbeVolume: PrefKey {
    static let stringKey = "probeVolume"
    static let defaultValue = 0
}

private final class FlatProbePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref("probeVolume") var volume = 0
    static let domain = PrefsStore.userDefaults(layout: .flat)
    override class var store: PrefsStore { domain }
}

/// `UserDefaults` and the store over its domain, in one process. Prints a line for each step that fails, then "done".
extension Probe {
    static func agreement() throws {
        let defaults = UserDefaults.standard
        let prefs = ProbePrefs()

        prefs["text"] = "ours"
        expect(defaults.dictionary(forKey: "ProbePrefs")?["text"] as? String == "ours", "UserDefaults sees our write")

        defaults.set("theirs", forKey: "other")
        prefs["count"] = 1
        expect(defaults.string(forKey: "other") == "theirs", "their key that was not synchronized is not lost")
        expect(defaults.dictionary(forKey: "ProbePrefs")?["count"] as? Int == 1, "nor is ours")
        try expect(onDisk()["other"] as? String == "theirs", "it has reached the disk with our write")

        defaults.set(["text": "changed", "unknown": true], forKey: "ProbePrefs")
        defaults.synchronize()
        expect(prefs["text"] as? String == "changed", "their synchronized write is seen by our next read")
        expect(prefs["count"] == nil, "and so is what it removed")

        prefs["count"] = 2
        try expect(
            (onDisk()["ProbePrefs"] as? [String: Any])?["unknown"] as? Bool == true, "their key in our root stays")
        try expect(onDisk()["other"] as? String == "theirs", "and their root too")

        defaults.set(["text": "not synchronized"], forKey: "ProbePrefs")
        prefs["count"] = 3
        let merged = try onDisk()["ProbePrefs"] as? [String: Any]
        expect(merged?["count"] as? Int == 3, "our write is not overwritten by their dirty root")
        expect(merged?["text"] as? String == "not synchronized", "which lands before it")

        defaults.register(defaults: ["Registered": ["count": 9]])
        let registered = ProbePrefs(key: "Registered")
        expect(registered["count"] == nil, "registered defaults are not read into a root")
        registered["text"] = "x"
        try expect((onDisk()["Registered"] as? [String: Any])?["count"] == nil, "nor written")

        let argued = ProbePrefs(key: "Argued")
        expect(defaults.object(forKey: "Argued") != nil, "the argument is there")
        argued["text"] = "x"
        expect(argued["text"] as? String == "x", "arguments are not read into a root")

        // Two stores on one domain share the knowledge of what UserDefaults has read.
        ProbeVolume.value = 1
        expect(ProbeVolume.value == 1, "a key of its own")
        let flat = FlatProbePrefs()
        flat.volume = 2
        expect(defaults.integer(forKey: "probeVolume") == 2, "UserDefaults sees the flat store's write")
        var others = try onDisk()
        others["probeVolume"] = 3
        try writePropertyList(others, to: domain)
        expect(flat.volume == 3, "the flat store sees another program's write")
        expect(ProbeVolume.value == 3, "and so does the key")
        ProbeVolume.value += 10
        expect(flat.volume == 13, "which is not undone")

        defaults.register(defaults: ["probeVolume": 55, "probeSize": 5])
        ProbeVolume.value = 3
        defaults.removeObject(forKey: "probeVolume")
        expect(ProbeVolume.value == 0, "a key does not read registered defaults after a removal by other code")
        expect(AppSetting(wrappedValue: 1, "probeVolume").wrappedValue == 1, "nor does a setting")
        ProbeVolume.value += 1
        try expect(onDisk()["probeVolume"] as? Int == 1, "nor does a change in place store one")
        defaults.set(55, forKey: "probeVolume")
        expect(
            ProbeVolume.value == 55, "a value that other code sets is read, although it is equal to a registered one")

        let suite = PrefsStore.userDefaults(suite: "probe.agreement")
        let raw = UserDefaults(suiteName: "probe.agreement")
        let suiteSize = AppSetting(wrappedValue: 1, "probeSize", store: suite)
        suiteSize.wrappedValue = 6
        raw?.removeObject(forKey: "probeSize")
        expect(suiteSize.wrappedValue == 1, "the key of a suite does not read registered defaults either")
        suiteSize.wrappedValue += 1
        expect(raw?.integer(forKey: "probeSize") == 2, "nor store them")

        let suitePrefs = ProbePrefs(store: suite)
        suitePrefs["text"] = "in a suite"
        expect(raw?.dictionary(forKey: "ProbePrefs")?["text"] as? String == "in a suite", "a suite agrees too")

        // Foundation writes XML, in which the character U+0000 is not allowed.
        prefs["text"] = "a\0b"
        expect(prefs.lastError == nil, "a binary file holds every character")
        defaults.set(true, forKey: "theirs")
        defaults.synchronize()
        try expect(isXML(), "other code has made XML of it")
        ProbeVolume.value = 5
        prefs["count"] = 8
        expect(prefs.lastError == nil && prefs["count"] as? Int == 8, "which does not stop other writes")
        expect(prefs["text"] as? String == "a\0b", "and changes no value")
        try expect(!isXML() && onDisk()["theirs"] as? Bool == true, "the file is binary again")
        expect(
            defaults.integer(forKey: "probeVolume") == 5 && defaults.bool(forKey: "theirs"), "and UserDefaults reads it"
        )
        print("done")
    }

    private static func isXML() throws -> Bool { try Data(contentsOf: domain).starts(with: "<?xml".utf8) }

    private static func onDisk() throws -> [String: Any] { try propertyList(at: domain) }

    static func expect(_ condition: Bool, _ claim: String) {
        if !condition { print("does not hold: \(claim)") }
    }
}
