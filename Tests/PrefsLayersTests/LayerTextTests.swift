import Testing

@testable import PersistentPreferences
@testable import PrefsLayers

/// The text of the environment and of arguments, parsed by the declared type.
@Suite struct LayerTextTests {
    private func prefs(_ key: String, _ text: String, isArgument: Bool) -> LayerPrefs {
        let layer: PrefsLayer =
            isArgument ? .arguments(["program", "-" + key, text]) : .variables(["APP_" + key: text])
        return LayerPrefs(store: .layered(.memory(), above: [layer]))
    }

    /// `TextTableTests` has the texts of all types, and what is said of others.
    @Test(
        arguments: [
            ("size", "100", "must be in 8...72, found 100"),
            ("servers", #"[{"host": "a"}]"#, #"servers[0]: the key "port" is missing"#),
            ("servers", #"[{"host": "a", "port": 1.5}]"#, "servers[0].port: expected Int, found a real number"),
            ("server", "[1]", #"expected LayerServer (such as {"host":"localhost","port":80}), found "[1]""#),
            ("need", #"{"host": "a"}"#, #"the key "port" is missing"#),
        ], [false, true])
    func invalidTextIsReportedAndIgnored(
        _ sample: (key: String, text: String, reason: String), _ isArgument: Bool
    ) throws {
        let prefs = prefs(sample.key, sample.text, isArgument: isArgument)
        func check(_ moment: Comment) throws {
            let error = try #require(prefs.lastError)
            #expect(error.isWarning)
            let fault = try #require(error.layerFaults.first, moment)
            #expect(error.layerFaults.count == 1)
            #expect(fault.layer == (isArgument ? "arguments" : "environment"))
            #expect(fault.path == (isArgument ? "-" : "APP_") + sample.key)
            #expect(fault.reason.hasPrefix(sample.reason), "\(fault.reason)")
        }
        try check("a new instance")
        for _ in 0..<2 {
            switch sample.key {
            case "size": #expect(prefs.size == 12)
            case "server": #expect(prefs.server == LayerServer())
            case "servers": #expect(prefs.servers == [])
            default: #expect(prefs.need == nil)
            }
            try check("a read")
        }
        _ = prefs.values
        try check("a read of all values")
        _ = prefs.name
        #expect(prefs.lastError == nil, "other keys go on working")
        #expect(prefs.source(ofKey: sample.key) == .default)
    }

    @Test func afterInvalidTextTheNextLayerIsRead() {
        let prefs = LayerPrefs(
            store: .layered(
                PrefsStore.memory(), above: [.arguments(["p", "-size", "x"]), .variables(["APP_size": "y"])],
                below: [.values(["size": "z"]), .values(["size": 30])]))
        #expect(prefs.size == 30)
        #expect(prefs.lastError?.layerFaults.map(\.layer) == ["arguments", "environment", "values"])
        prefs.size = 40
        #expect(prefs.lastError == nil, "an ignored text covers nothing")
        #expect(prefs.size == 40)
        #expect(prefs.$size.source == .stored)
    }
}
