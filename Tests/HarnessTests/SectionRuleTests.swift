import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import TestSupport
import Testing

@testable import PrefsTool

/// A program whose struct is merged, and whose values have a rule.
private final class ServerPrefs: Prefs, @unchecked Sendable {
    struct Listen: Codable, Equatable { var host = "localhost", port = 80, tags = ["a"] }

    struct TLS: Codable, Equatable { var certificate = "none", version = 1 }
    struct Proxy: Codable, Equatable { var tls = TLS(), backup = TLS(), port = 1 }

    @Pref(.merged) var listen = Listen()
    @Pref(.merged) var proxy = Proxy()
    @Pref var low = 1
    @Pref var high = 9

    override class var rules: [PrefsRule] {
        [PrefsRule { (prefs: ServerPrefs) in prefs.low > prefs.high ? "low must be at most high" : nil }]
    }
}

/// The tool in a program with a merged struct and a rule, over a file of the system.
@Suite(.waits) final class SectionRuleTests: HarnessSuite {
    override var program: Program? {
        let store = PrefsStore.layered(
            PrefsStore.json(url: home.folder.file("state.json")), below: [.file(home.folder.file("etc.json"))])
        return Program(name: "server prefs") { ServerPrefs(key: $0, values: nil, store: $1 ?? store) }
    }

    private var stored: String { (try? home.text("state.json").filter { !$0.isWhitespace }) ?? "" }

    @Test func aChangeOfOneFieldStoresThatField() throws {
        try home.write(#"{"listen": {"host": "s", "port": 2}}"#, to: "etc.json")
        #expect(try prefs("set", "listen.port", "3") == Printed())
        #expect(stored == #"{"listen":{"port":3}}"#)
        #expect(try prefs("get", "listen") == Printed(#"{"host":"s","port":3,"tags":["a"]}"# + "\n"))
        #expect(try prefs("set", "listen.tags[1]", "b") == Printed())
        #expect(stored == #"{"listen":{"port":3,"tags":["a","b"]}}"#)
        #expect(try prefs("unset", "listen.tags") == Printed())
        #expect(try prefs("unset", "listen.port") == Printed())
        #expect(stored == "{}")
        #expect(try prefs("get", "listen.port") == Printed("2\n"))
    }

    /// A struct in the struct, beside another one of the same type.
    @Test func aChangeOfAFieldOfAFieldStoresThatFieldAlone() throws {
        func system(_ version: Int) throws {
            let tls = #"{"certificate": "s", "version": \#(version)}"#
            try home.write(#"{"proxy": {"tls": \#(tls), "backup": \#(tls), "port": 3}}"#, to: "etc.json")
        }
        func values() throws -> NSDictionary? {
            try JSONSerialization.jsonObject(with: home.bytes("state.json")) as? NSDictionary
        }
        try system(2)
        #expect(try prefs("set", "proxy.tls.certificate", "x") == Printed())
        #expect(try values() == ["proxy": ["tls": ["certificate": "x"]]])
        #expect(try prefs("set", "proxy.backup.version", "5") == Printed())
        #expect(try values() == ["proxy": ["tls": ["certificate": "x"], "backup": ["version": 5]]])
        // The other fields are those of the layer below, also those that it gets later.
        try system(7)
        #expect(try prefs("get", "proxy.tls.version", "proxy.backup.certificate") == Printed("7\ns\n"))
        #expect(try prefs("unset", "proxy.tls.certificate") == Printed())
        #expect(try prefs("get", "proxy.tls.certificate", "proxy.backup.version") == Printed("s\n5\n"))
    }

    /// A rehearsal knows no layers.
    @Test func aRuleIsAskedWithTheLayers() throws {
        try home.write(#"{"high": 20}"#, to: "etc.json")
        #expect(try prefs("set", "low", "15") == Printed())
        let message = "low must be at most high; the stored state is unchanged"
        #expect(try prefs("set", "low", "21") == failure(message))
        #expect(stored == #"{"low":15}"#)
        // Below the removed value is another one.
        #expect(try prefs("set", "high", "30") == Printed())
        #expect(try prefs("unset", "high") == Printed())
        #expect(stored == #"{"low":15}"#)
        #expect(try prefs("set", "low=30", "high=40") == Printed())
        #expect(try prefs("unset", "high") == failure(message))
        #expect(try prefs("doctor").output.contains("low must") == false)
        try home.write(#"{"low": 30, "high": 29}"#, to: "state.json")
        #expect(try prefs("doctor").output.contains("low must be at most high"))
    }
}
