@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsStoreKit
import TestSupport
import Testing

@testable import PrefsLayers

/// One variable sets one field of a Codable struct.
@Suite struct LayerFieldTests {
    private let base = PrefsStore.memory()
    private let folder = TemporaryFolder.fresh

    private func prefs(
        _ variables: [String: String], over others: [PrefsLayer] = [], below: [PrefsLayer] = []
    ) -> LayerPrefs {
        LayerPrefs(store: .layered(base, above: [.variables(variables)] + others, below: below))
    }

    @Test(arguments: ["APP_SERVER_PORT", "APP_server_port"])
    func theFieldOfTheDefaultIsReplaced(_ variable: String) {
        let prefs = prefs([variable: "8080"])
        #expect(prefs.server == LayerServer(port: 8080) && prefs.lastError == nil)
        #expect(prefs.$server.source == .layer("environment") && !prefs.$server.isStored)
        #expect(prefs.values as NSDictionary == ["server": ["host": "localhost", "port": 8080]])
        #expect(prefs["server"] as? NSDictionary == ["host": "localhost", "port": 8080])
        #expect(prefs.problems().isEmpty)
    }

    @Test func allOtherFieldsAreTheStoredOnes() throws {
        try base.update(root: "LayerPrefs") { $0 = ["server": ["host": "stored", "port": 1, "new": true]] }
        let prefs = prefs(["APP_SERVER_PORT": "8080"])
        #expect(prefs.server == LayerServer(host: "stored", port: 8080) && prefs.lastError == nil)
        #expect((prefs["server"] as? [String: Any])?["new"] as? Bool == true)
        try base.update(root: "LayerPrefs") { $0 = ["server": ["host": "later"]] }
        #expect(prefs.server == LayerServer(host: "later", port: 8080) && prefs.lastError == nil)
        try base.update(root: "LayerPrefs") { $0 = nil }
        #expect(prefs.server == LayerServer(port: 8080) && prefs.lastError == nil)
    }

    @Test func severalVariablesSetSeveralFields() {
        let prefs = prefs(["APP_SERVER_PORT": "8080", "APP_SERVER_HOST": "1"])
        #expect(prefs.server == LayerServer(host: "1", port: 8080) && prefs.lastError == nil)
    }

    /// A field wins over the whole value of its own layer and of lower ones, and a whole value over the fields of lower layers.
    @Test func fieldsAndValuesOfSeveralLayers() {
        let whole = PrefsLayer.values(["server": ["host": "values", "port": 2]])
        let json = ["APP_SERVER": #"{"host": "json", "port": 3}"#, "APP_SERVER_PORT": "4"]
        #expect(prefs(json).server == LayerServer(host: "json", port: 4))
        #expect(prefs(["APP_SERVER_PORT": "4"], over: [whole]).server == LayerServer(host: "values", port: 4))
        #expect(prefs(["APP_SERVER_PORT": "4"], below: [whole]).server == LayerServer(host: "values", port: 4))
        let inside = LayerPrefs(store: .layered(base, above: [whole, .variables(json)]))
        #expect(inside.server == LayerServer(host: "values", port: 2))
        let two = [PrefsLayer.variables(["APP_server_port": "5", "APP_SERVER_HOST": "low"])]
        let both = prefs(["APP_SERVER_PORT": "4"], over: two)
        #expect(both.server == LayerServer(host: "low", port: 4))
        #expect(both.$server.set(LayerServer())?.coveredKeys.map(\.path) == ["APP_SERVER_PORT"])
        // Over a whole value that is above the base, below it, or the default.
        let fields = [PrefsLayer.variables(["APP_SERVER_PORT": "4"])] + two
        for (above, below) in [(fields + [whole], []), (fields, [whole]), ([], fields + [whole]), ([], fields)] {
            let prefs = LayerPrefs(store: .layered(base, above: above, below: below))
            #expect(prefs.server == LayerServer(host: "low", port: 4), "\(above.count) above")
        }
        let below = LayerPrefs(
            store: .layered(base, below: [.variables(["APP_SERVER_PORT": "6"]), whole]))
        #expect(below.server == LayerServer(host: "values", port: 6))
        below.server = LayerServer(host: "stored", port: 7)
        #expect(below.lastError == nil && below.server == LayerServer(host: "stored", port: 7))
    }

    /// As a key that a layer above sets.
    @Test func theWholeValueIsCovered() throws {
        let prefs = prefs(["APP_SERVER_PORT": "8080"])
        let covered = PrefsError.coveredByLayer([
            PrefsProblem(covered: "server", by: "environment", place: "APP_SERVER_PORT")
        ])
        #expect(prefs.$server.set(LayerServer(host: "x", port: 8080)) == covered)
        #expect(prefs.$server.modify { $0.host = "x" } == covered)
        #expect(prefs.update { prefs["server"] = ["host": "x", "port": 1] }.failure == covered)
        prefs.values = ["server": ["host": "x", "port": 1]]
        #expect(prefs.lastError == covered)
        #expect(try base.read(root: "LayerPrefs") == nil)
        #expect(prefs.$server.set(LayerServer(port: 8080)) == nil, "an equal value")
        #expect(try base.read(root: "LayerPrefs") == nil)
        prefs.size = 20
        #expect(prefs.lastError == nil && prefs.server == LayerServer(port: 8080))
    }

    @Test func aTextThatDoesNotFitIsTold() {
        let prefs = prefs(["APP_SERVER_PORT": "big", "APP_SERVER_HOST": "x"])
        let fault = PrefsProblem(
            layer: "environment", place: "APP_SERVER_PORT", reason: "server.port: expected Int, found a string")
        #expect(prefs.lastError == .ignoredInLayer([fault]))
        #expect(prefs.server == LayerServer(host: "x"))
        #expect(prefs.problems().map(\.path) == ["APP_SERVER_PORT"])
    }

    private struct Window: Codable, Equatable {
        var title = "1"
        var isOpen = false
        var since: Date = Date(timeIntervalSinceReferenceDate: 0)
        var tags: [String] = []
        var zoom = 1.0
        var note: String? = nil
    }

    private final class WindowPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var window = Window()
        @Pref(.check { $0.zoom < 10 ? nil : "zoom is too large" }) var limited = Window()
        @Pref var other: Window? = Window(title: "o")
        @Pref var none: Window?
        @Pref var table = ["port": 1]
        @Pref("window.zoom") var exact = 5
        @Pref("window tags") var words = 6
        @Pref(.sensitive) var secret = LayerServer()
    }

    private func window(_ variables: [String: String]) -> WindowPrefs {
        WindowPrefs(store: .layered(base, above: [.environment(prefix: "T_", in: variables)]))
    }

    @Test func aTextIsReadByTheTypeOfItsField() {
        let prefs = window([
            "T_WINDOW_TITLE": "42", "T_WINDOW_IS_OPEN": "yes", "T_WINDOW_SINCE": "2001-01-02", "T_OTHER_TAGS": "a,b",
            "T_OTHER_ZOOM": "2\n",
        ])
        let since = Date(timeIntervalSinceReferenceDate: 86_400)
        #expect(prefs.window == Window(title: "42", isOpen: true, since: since) && prefs.lastError == nil)
        #expect(prefs.other == Window(title: "o", tags: ["a", "b"], zoom: 2) && prefs.lastError == nil)
        #expect(prefs.problems().isEmpty)
    }

    /// A dictionary, and the fields of an optional whose default is nil, have no variables; nor has a field that the default
    /// does not store.
    @Test(arguments: ["T_TABLE_PORT", "T_NONE_TITLE", "T_WINDOW_NOTE"])
    func whatIsNoKnownFieldHasNoVariable(_ variable: String) {
        let prefs = window([variable: "2"])
        #expect(prefs.window == Window() && prefs.none == nil && prefs.table == ["port": 1] && prefs.lastError == nil)
        #expect(prefs.problems().map(\.path) == [variable])
    }

    @Test func aKeyWinsOverAFieldOfThatName() {
        let prefs = window(["T_WINDOW_ZOOM": "7", "T_window_tags": "8"])
        #expect(prefs.exact == 7 && prefs.words == 8 && prefs.window == Window() && prefs.lastError == nil)
        #expect(prefs.problems().isEmpty)
    }

    @Test func aConstraintHoldsForTheWholeValue() {
        let prefs = window(["T_LIMITED_ZOOM": "11", "T_LIMITED_TITLE": "x", "T_OTHER_ZOOM": "11"])
        #expect(prefs.limited == Window(title: "x") && prefs.other?.zoom == 11)
        #expect(prefs.problems().map(\.description) == ["T_LIMITED_ZOOM: environment: zoom is too large"])
    }

    @Test func theTextOfASecretIsNotTold() {
        let problems = window(["T_SECRET_PORT": "hidden"]).problems().map(\.description)
        #expect(problems == ["T_SECRET_PORT: environment: expected Int, found a string"])
    }

    private struct TLS: Codable, Equatable { var port = 1 }

    private final class TwinPrefs: PersistentPrefs, @unchecked Sendable {
        struct Server: Codable, Equatable { var tlsPort = 2 }
        @Pref var server = Server()
        @Pref var serverTLS = TLS()
    }

    @Test func aVariableOfTwoFieldsIsIgnored() {
        func prefs(_ variables: [String: String]) -> TwinPrefs {
            TwinPrefs(store: .layered(base, above: [.environment(prefix: "T_", in: variables)]))
        }
        let twin = prefs(["T_SERVER_TLS_PORT": "9"])
        #expect(twin.server == TwinPrefs.Server() && twin.serverTLS == TLS() && twin.lastError == nil)
        let reason = #"ignored, because the fields "server.tlsPort" and "serverTLS.port" have this variable"#
        #expect(twin.problems().map(\.description) == ["T_SERVER_TLS_PORT: environment: \(reason)"])
        let exact = prefs(["T_server_tlsPort": "3", "T_serverTLS_port": "4"])
        #expect(exact.server.tlsPort == 3 && exact.serverTLS.port == 4 && exact.problems().isEmpty)
    }

    @Test func theExactVariableCounts() {
        let prefs = prefs(["APP_SERVER_PORT": "1", "APP_server_port": "2", "APP_SERVER_PRT": "3"])
        #expect(prefs.server.port == 2)
        #expect(
            prefs.problems().map(\.description) == [
                "APP_SERVER_PORT: environment: ignored, because APP_server_port is set, too",
                #"APP_SERVER_PRT: environment: no key has this variable; did you mean "APP_SERVER_PORT"?"#,
            ])
    }

    /// A stored value that is no struct stays, and is told of.
    @Test func aStoredValueOfAnotherTypeHasNoFields() throws {
        try base.update(root: "LayerPrefs") { $0 = ["server": "x"] }
        let prefs = prefs(["APP_SERVER_PORT": "8080"])
        #expect(prefs.server == LayerServer() && prefs.lastError?.failures.first?.path == "server")
    }

    /// A nil that is stored has no fields, as an absent value.
    @Test func aStoredNilIsTheDefaultWithTheField() throws {
        let file = folder.file("test.json")
        try Data(#"{"other": null}"#.utf8).write(to: file)
        let store = PrefsStore.json(url: file)
        #expect(WindowPrefs(store: store).other == nil)
        let layer = PrefsLayer.environment(prefix: "T_", in: ["T_OTHER_ZOOM": "2"])
        let prefs = WindowPrefs(store: .layered(store, above: [layer]))
        #expect(prefs.other == Window(title: "o", zoom: 2) && prefs.lastError == nil)
    }

    @Test func observersReadTheFieldToo() throws {
        let prefs = prefs(["APP_SERVER_PORT": "8080"])
        let heard = prefs.observer(of: "server")
        try base.update(root: "LayerPrefs") { $0 = ["server": ["host": "a", "port": 1]] }
        try base.update(root: "LayerPrefs") { $0 = ["server": ["host": "a", "port": 2]] }
        try base.update(root: "LayerPrefs") { $0 = ["server": ["host": "b", "port": 2]] }
        #expect(heard.wait(for: 2).count == 2)
        #expect(prefs.server == LayerServer(host: "b", port: 8080))
    }

    @Test func aBaseThatCannotBeReadHidesNoField() {
        let store = PrefsStore.layered(.userDefaults(suite: "a/b"), above: [.variables(["APP_SERVER_PORT": "8080"])])
        #expect(LayerPrefs(store: store).server == LayerServer(port: 8080))
    }
}
