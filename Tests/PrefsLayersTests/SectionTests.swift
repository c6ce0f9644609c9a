import Foundation
import PrefsJSON
import PrefsLayers
import Testing
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsSupport

private enum Mode: Codable, Equatable {
    case plain
    case proxy(via: String)
}

private struct TLS: Codable, Equatable {
    var certificate = "none"
    var version = 1
}

private struct Listen: Codable, Equatable {
    var host: String? = "localhost"
    var port = 80
    var tls = TLS()
    var backup: TLS? = TLS()
    var names = ["a"]
    var limits = ["a": 1]
    var mode = Mode.plain

    func with(_ change: (inout Listen) -> Void) -> Listen {
        var listen = self
        change(&listen)
        return listen
    }

    /// As a property-list object.
    var object: [String: Any] {
        let tls = { (tls: TLS) -> [String: Any] in ["certificate": tls.certificate, "version": tls.version] }
        var object: [String: Any] = [
            "port": port, "tls": tls(self.tls), "names": names, "limits": limits, "mode": ["plain": [String: Any]()],
        ]
        object["host"] = host
        object["backup"] = backup.map(tls)
        return object
    }
}

private struct Bounds: Codable, Equatable {
    var low = 1
    var high = 9
    var name = ""
}

private final class SectionPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.merged) var listen = Listen()
    @Pref var whole = Listen()
    @Pref(.merged, .check { $0.low > $0.high ? "low must be at most high" : nil }) var bounds = Bounds()
    @Pref(.merged) var maybe: Bounds? = Bounds()
    @Pref(.merged) var none: Bounds?
    @Pref(.merged) var size = 12
    @Pref var other = 0
}

private struct Inner: Codable, Equatable {
    var note: String? = "d"
    var size = 1
}

private struct Outer: Codable, Equatable {
    var inner = Inner()
    var other: Inner? = Inner()
    var port = 80
}

private final class NestedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.merged) var outer = Outer()
}

/// `@Pref(.merged)`: a struct that stands in several layers, with real files.
@Suite(.waits) struct SectionTests {
    private let folder = TemporaryFolder.fresh
    private var base: URL { folder.file("state.json") }
    private var system: URL { folder.file("etc.json") }
    private var local: URL { folder.file("local.json") }
    private var forced: URL { folder.file("forced.json") }

    private func prefs(_ variables: [String: String] = [:], base store: PrefsStore? = nil) -> SectionPrefs {
        SectionPrefs(
            store: .layered(
                store ?? PrefsStore.json(url: base), above: [.variables(variables), .file(forced)],
                below: [.file(local), .file(system)]))
    }

    private func write(_ text: String, to url: URL) throws { try Data(text.utf8).write(to: url) }
    private func texts(_ prefs: PersistentPrefs) -> [String] { prefs.problems().map(\.description) }

    /// The stored value of a key of the base, as its text shows it.
    private func stored(_ key: String) throws -> NSDictionary? {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: base)) as? [String: Any]
        return object?[key] as? NSDictionary
    }

    // MARK: - Reading

    /// The example of the issue.
    @Test func eachFieldComesFromTheHighestLayerThatHasIt() throws {
        try write(#"{"listen": {"host": "9.9.9.9", "port": 2}, "whole": {"host": "9.9.9.9", "port": 2}}"#, to: system)
        try write(#"{"listen": {"port": 1}, "whole": {"port": 1}}"#, to: base)
        let prefs = prefs()
        #expect(prefs.listen == Listen(host: "9.9.9.9", port: 1))
        #expect(prefs.whole == Listen(host: nil, port: 1, backup: nil), "without the option, a struct is one value")
        #expect(prefs.lastError == nil && prefs.problems() == [])
        #expect((prefs["listen"] as? NSDictionary)?["host"] as? String == "9.9.9.9")
        #expect((prefs.values["listen"] as? NSDictionary)?["host"] as? String == "9.9.9.9")
        try write(#"{"listen": {"names": ["l"], "port": 5}}"#, to: local)
        try write(#"{"listen": {"limits": {"f": 2}}}"#, to: forced)
        #expect(prefs.listen == Listen(host: "9.9.9.9", port: 1, names: ["l"], limits: ["f": 2]))
        try write("{}", to: base)
        #expect(prefs.listen == Listen(host: "9.9.9.9", port: 5, names: ["l"], limits: ["f": 2]))
        let all = self.prefs(["APP_LISTEN_PORT": "7", "APP_LISTEN": #"{"host": "v", "port": 6}"#])
        #expect(all.listen == Listen(host: "v", port: 7, names: ["l"], limits: ["f": 2]))
        #expect(all.lastError == nil && all.problems() == [])
    }

    @Test func effectiveValuesHaveTheMergedFields() throws {
        try write(#"{"listen": {"host": "s", "port": 2}, "bounds": {"low": 8}}"#, to: system)
        try write(#"{"listen": {"host": "b", "port": 1, "backup": null}, "maybe": null}"#, to: base)
        let prefs = prefs()
        let tls: [String: Any] = ["certificate": "none", "version": 1]
        var listen: [String: Any] = [
            "host": "b", "port": 1, "tls": tls, "names": ["a"], "limits": ["a": 1], "mode": ["plain": [String: Any]()],
        ]
        let values = prefs.effectiveValues
        #expect(values["listen"] as? NSDictionary == listen as NSDictionary)
        #expect(values["bounds"] as? NSDictionary == ["low": 8, "high": 9, "name": ""])
        #expect(values["maybe"] == nil && values["none"] == nil && values["size"] as? Int == 12)
        #expect(prefs.lastError == nil)
        prefs.listen.host = nil
        listen["host"] = nil
        #expect(prefs.effectiveValue(of: "listen") as? NSDictionary == listen as NSDictionary)
    }

    /// The file lacks the field, so a read of it alone has the default; a layer below has another value.
    @Test func aFieldThatIsSetToItsDefaultIsStored() throws {
        let writes: [(SectionPrefs) -> Void] = [
            { $0.listen.port = 80 }, { $0.$listen.set($0.listen.with { $0.port = 80 }) },
            { prefs in prefs.update { prefs.listen.port = 80 } },
            { prefs in prefs.update { $0["listen"] = prefs.listen.with { $0.port = 80 }.object } },
            { $0["listen"] = $0.listen.with { $0.port = 80 }.object },
            { $0.values["listen"] = $0.listen.with { $0.port = 80 }.object },
        ]
        // Only this field differs from what a read of the file alone has.
        try write(#"{"listen": {"port": 5}, "bounds": {"low": 2}}"#, to: system)
        for (number, change) in writes.enumerated() {
            try write(#"{"listen": {"host": "b", "backup": null}, "bounds": {"high": 5}}"#, to: base)
            let prefs = prefs()
            #expect(prefs.listen.host == "b" && prefs.listen.port == 5)
            change(prefs)
            #expect(prefs.lastError == nil && prefs.listen.port == 80, "\(number)")
            #expect(try stored("listen")?["port"] as? Int == 80, "\(number)")
            #expect(try stored("bounds") == ["high": 5] && prefs.bounds == Bounds(low: 2, high: 5), "\(number)")
        }
        try write(#"{"listen": {"host": "s"}}"#, to: system)
        try write(#"{"listen": {"port": 1, "backup": null}}"#, to: base)
        let prefs = prefs()
        prefs.listen.host = nil
        #expect(prefs.listen.host == nil && prefs.listen.backup == nil && prefs.lastError == nil)
        #expect(try stored("listen")?["host"] is NSNull)
    }

    @Test func theSourceOfAFieldIsItsLayer() throws {
        try write(#"{"listen": {"host": "s", "tls": {"version": 3}}}"#, to: system)
        try write(#"{"listen": {"port": 1, "host": null}}"#, to: base)
        let prefs = prefs()
        func source(_ field: String) -> PrefSource { prefs.source(ofKey: "listen." + field) }
        #expect(source("host") == .stored && source("port") == .stored)
        #expect(source("tls.version") == .layer(system.path) && source("tls") == .layer(system.path))
        #expect(source("tls.certificate") == .default && source("names") == .default)
        #expect(prefs.$listen.source == .stored && prefs.lastError == nil)
        let covered = self.prefs(["APP_LISTEN_PORT": "7"])
        #expect(covered.source(ofKey: "listen.port") == .layer("environment"))
        #expect(covered.source(ofKey: "listen.host") == .stored)
        #expect(covered.$listen.source == .layer("environment"))
        let alone = SectionPrefs(store: .json(url: base))
        #expect(alone.source(ofKey: "listen.port") == .stored && alone.source(ofKey: "listen.tls.version") == .default)
        try write("{}", to: base)
        #expect(source("host") == .layer(system.path) && prefs.$listen.source == .layer(system.path))
        // A store alone has fields, too. Another property has none.
        #expect(SectionPrefs(store: .json(url: base)).source(ofKey: "listen.port") == .default)
        #expect(prefs.source(ofKey: "whole.port") == .default)
        #expect(prefs.lastError == .incorrectKeys(invalidElements: ["whole.port"]))
    }

    /// Structs in it are merged, too; lists, dictionaries and enums are single values.
    @Test func structsInsideAreMergedAndOtherValuesReplaced() throws {
        try write(
            #"{"listen": {"tls": {"certificate": "s", "version": 2}, "backup": {"version": 5}, "names": ["s", "t"], "#
                + #""limits": {"s": 1}, "mode": {"proxy": {"via": "s"}}}}"#, to: system)
        try write(#"{"listen": {"tls": {"version": 3}, "backup": {"certificate": "b"}}}"#, to: base)
        let prefs = prefs()
        let expected = Listen(
            tls: TLS(certificate: "s", version: 3), backup: TLS(certificate: "b", version: 5), names: ["s", "t"],
            limits: ["s": 1], mode: .proxy(via: "s"))
        #expect(prefs.listen == expected && prefs.lastError == nil)
        try write(#"{"listen": {"names": [], "limits": {"l": 2}, "mode": {"plain": {}}}}"#, to: local)
        #expect(
            prefs.listen
                == expected.with {
                    $0.names = []
                    $0.limits = ["l": 2]
                    $0.mode = .plain
                })
        #expect(prefs.problems() == [])
    }

    /// In a file, null is nil for a field that may be nil, and no value for another one.
    @Test func aNullInAFile() throws {
        try write(#"{"listen": {"host": "s", "port": 2, "backup": {"version": 2}}}"#, to: system)
        try write(#"{"listen": {"host": null, "port": null, "backup": null}}"#, to: local)
        let prefs = prefs()
        #expect(prefs.listen == Listen(host: nil, port: 2, backup: nil) && prefs.problems() == [])
        try write(#"{"listen": {"host": "l", "backup": {"certificate": "l"}}}"#, to: base)
        #expect(prefs.listen == Listen(host: "l", port: 2, backup: TLS(certificate: "l")))
    }

    @Test func optionalsAreMergedByTheirDefault() throws {
        try write(#"{"maybe": {"low": 2}, "none": {"low": 2}, "size": 5}"#, to: system)
        try write(#"{"maybe": {"high": 7}, "none": {"high": 7}}"#, to: local)
        let prefs = prefs()
        #expect(prefs.maybe == Bounds(low: 2, high: 7) && prefs.size == 5)
        #expect(prefs.none == nil && prefs.lastError.map { "\($0)" }?.contains("none") == true, "no default has fields")
        try write(#"{"maybe": null}"#, to: base)
        #expect(prefs.maybe == nil)
        #expect(self.prefs(["APP_MAYBE_NAME": "v"]).maybe == Bounds(name: "v"))
        try write("{}", to: base)
        // A nil hides what is below it.
        try write(#"{"maybe": null}"#, to: local)
        #expect(prefs.maybe == nil)
        try write(#"{"maybe": null}"#, to: forced)
        #expect(self.prefs(["APP_MAYBE_NAME": "v"]).maybe == Bounds(name: "v"))
    }

    // MARK: - What does not fit

    @Test func aPartThatDoesNotFitIsLeftOut() throws {
        try write(#"{"listen": {"host": "s", "port": "x"}}"#, to: system)
        try write(#"{"listen": {"port": 5}}"#, to: local)
        let prefs = prefs()
        #expect(prefs.listen == Listen(port: 5))
        #expect(texts(prefs) == ["listen in \(system.path): listen.port: expected Int, found a string"])
    }

    /// Each fits alone. The lower one goes, and what is below it may stay.
    @Test func partsThatDoNotFitTogether() throws {
        try write(#"{"bounds": {"name": "s"}}"#, to: system)
        try write(#"{"bounds": {"low": 6}}"#, to: local)
        let prefs = prefs()
        #expect(prefs.bounds == Bounds(low: 6, name: "s") && prefs.problems() == [])
        try write(#"{"bounds": {"high": 5}}"#, to: base)
        #expect(prefs.bounds == Bounds(high: 5, name: "s"))
        let told = "bounds in \(local.path): low must be at most high"
        #expect(texts(prefs) == [told] && prefs.bounds.low == 1)
        #expect(prefs.lastError?.layerFaults.map(\.path) == ["bounds in \(local.path)"])
        #expect(prefs.source(ofKey: "bounds.low") == .default && prefs.source(ofKey: "bounds.high") == .stored)
        // Never the base's part, also under a layer above.
        try write(#"{"bounds": {"low": 7, "name": "f"}}"#, to: forced)
        #expect(prefs.bounds == Bounds(high: 5, name: "s"))
        #expect(texts(prefs) == [told.replacing("local", with: "forced"), told])
        try write(#"{"bounds": {"high": 8}}"#, to: base)
        #expect(prefs.bounds == Bounds(low: 7, high: 8, name: "f") && prefs.problems() == [])
    }

    @Test func aStoredPartThatDoesNotFitIsPassedOver() throws {
        try write(#"{"listen": {"host": "s"}}"#, to: system)
        try write(#"{"listen": {"port": "x", "names": ["b"]}}"#, to: base)
        let prefs = prefs(["APP_LISTEN_LIMITS": "v=1"])
        #expect(prefs.listen == Listen(host: "s", limits: ["v": 1]))
        #expect(texts(prefs) == ["listen.port: expected Int, found a string"])
        #expect(prefs.lastError?.failures.map(\.path) == ["listen.port"])
        let below = self.prefs()
        #expect(below.listen == Listen(host: "s") && below.lastError?.failures.map(\.path) == ["listen.port"])
        // No layer is at fault, also if all are above.
        try write("{}", to: system)
        let above = self.prefs(["APP_LISTEN_LIMITS": "v=1"])
        #expect(above.listen == Listen(limits: ["v": 1]))
        #expect(texts(above) == ["listen.port: expected Int, found a string"])
    }

    // MARK: - Writing

    /// A write stores all fields, so no layer below shows through it.
    @Test func aWriteStoresAllFields() throws {
        try write(#"{"listen": {"host": "s", "port": 2}}"#, to: system)
        try write(#"{"other": 1}"#, to: base)
        let prefs = prefs()
        prefs.listen.port = 3
        #expect(prefs.lastError == nil && prefs.listen == Listen(host: "s", port: 3))
        let all: NSDictionary = [
            "host": "s", "port": 3, "tls": ["certificate": "none", "version": 1],
            "backup": ["certificate": "none", "version": 1], "names": ["a"], "limits": ["a": 1], "mode": ["plain": [:]],
        ]
        #expect(try stored("listen") == all)
        try write(#"{"listen": {"host": "t", "port": 4}}"#, to: system)
        #expect(prefs.listen == Listen(host: "s", port: 3))
        // Without its part, the base shows the layers again.
        #expect(prefs.$listen.reset() == nil && prefs.listen == Listen(host: "t", port: 4))
        #expect(try stored("listen") == nil)
    }

    /// nil over a file that has a value, in each format.
    @Test(arguments: [false, true]) func nilIsStored(_ isPropertyList: Bool) throws {
        try write(#"{"listen": {"host": "s", "backup": {"version": 2}}}"#, to: system)
        let url = isPropertyList ? folder.file("state.plist") : base
        let store: PrefsStore =
            isPropertyList ? PrefsStore.propertyList(url: url, layout: .flat) : PrefsStore.json(url: url)
        let prefs = prefs(base: store)
        prefs.listen.host = nil
        #expect(prefs.lastError == nil && prefs.listen == Listen(host: nil, backup: TLS(version: 2)))
        prefs.listen.backup = nil
        let expected = Listen(host: nil, backup: nil)
        #expect(prefs.listen == expected && self.prefs(base: store).listen == expected)
        #expect(SectionPrefs(store: store).listen == expected, "without layers, too")
        #expect(prefs.problems() == [])
        if isPropertyList {
            let list = try propertyList(at: url)["listen"] as? [String: Any]
            #expect(list?["host"] as? String == "$null" && list?["backup"] as? String == "$null")
        } else {
            #expect(try stored("listen")?["host"] is NSNull && stored("listen")?["backup"] is NSNull)
        }
        // An equal write is silent.
        let number = try FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? Int
        prefs.listen = expected
        #expect(prefs.lastError == nil)
        #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? Int == number)
        prefs.listen.host = "again"
        #expect(prefs.listen == expected.with { $0.host = "again" })
    }

    /// Fields that the type does not know stay, as in each struct.
    @Test func aFieldThatOnlyTheBaseHas() throws {
        try write(#"{"listen": {"host": "s"}}"#, to: system)
        try write(#"{"listen": {"new": {"a": 1}, "port": 1}}"#, to: base)
        let prefs = prefs()
        #expect(prefs.listen == Listen(host: "s", port: 1) && prefs.problems() == [])
        prefs.listen.port = 2
        #expect(try stored("listen")?["new"] as? NSDictionary == ["a": 1])
        #expect(try stored("listen")?["host"] as? String == "s")
    }

    /// In a struct of the struct, and in an optional one.
    @Test(arguments: [false, true]) func nilOfANestedFieldIsStored(_ isPropertyList: Bool) throws {
        try write(#"{"outer": {"inner": {"note": "s", "size": 2}, "other": {"note": "t"}}}"#, to: system)
        let url = isPropertyList ? folder.file("state.plist") : base
        let store: PrefsStore =
            isPropertyList ? PrefsStore.propertyList(url: url, layout: .flat) : PrefsStore.json(url: url)
        let prefs = NestedPrefs(store: .layered(store, below: [.file(system)]))
        prefs.outer.inner.note = nil
        #expect(prefs.lastError == nil)
        #expect(prefs.outer == Outer(inner: Inner(note: nil, size: 2), other: Inner(note: "t")))
        prefs.outer.other?.note = nil
        let expected = Outer(inner: Inner(note: nil, size: 2), other: Inner(note: nil))
        #expect(prefs.outer == expected && prefs.lastError == nil)
        #expect(NestedPrefs(store: .layered(store, below: [.file(system)])).outer == expected)
        #expect(NestedPrefs(store: store).outer == expected, "without layers, too")
        #expect(prefs.problems() == [])
    }

    /// As a variable's field does.
    @Test func aPartAboveCoversTheWholeProperty() throws {
        try write(#"{"listen": {"port": 9}}"#, to: forced)
        try write(#"{"listen": {"host": "b"}}"#, to: base)
        let prefs = prefs()
        let bytes = try Data(contentsOf: base)
        #expect(prefs.$listen.set(Listen(host: "x"))?.coveredKeys.map(\.path) == ["listen in \(forced.path)"])
        #expect(prefs.$listen.modify { $0.host = "x" }?.coveredKeys.count == 1)
        #expect(prefs.update { $0["listen"] = ["host": "x"] }.failure?.coveredKeys.count == 1)
        #expect(try Data(contentsOf: base) == bytes)
        #expect(prefs.$listen.set(Listen(host: "b", port: 9)) == nil, "an equal value")
        #expect(try Data(contentsOf: base) == bytes)
        prefs.other = 2
        #expect(prefs.lastError == nil && prefs.listen == Listen(host: "b", port: 9))
    }

    @Test func observersHearOfAFieldOfALayer() throws {
        try write(#"{"listen": {"host": "s"}}"#, to: system)
        try write(#"{"listen": {"port": 1}}"#, to: base)
        let prefs = prefs()
        let heard = Heard<String?>()
        let observation = prefs.$listen.onChange { heard.append($1.host) }
        try write(#"{"listen": {"host": "t"}}"#, to: system)
        #expect(heard.wait(for: 1) == ["t"])
        observation.cancel()
    }
}
