import Testing

@testable import PersistentPreferences
@testable import PrefsLayers

/// The text of the environment and of arguments, parsed by the declared type.
@Suite struct LayerTextTests {
    private func prefs(_ key: String, _ text: String, isArgument: Bool) -> LayerPrefs {
        let layer: PrefsLayer =
            isArgument ? .arguments(["program", "-" + key, text]) : .variables(["APP_" + key: text])
        return LayerPrefs(store: LayeredStore(InMemoryStore(), above: [layer]))
    }

    /// A property of each type. `TextTableTests` has the texts.
    @Test(
        arguments: [
            ("size", "42", "42"), ("name", "a,b", "a,b"), ("ratio", "-1.25", "-1.25"), ("isOn", "YES", "true"),
            ("theme", "dark", "dark"), ("limit", "7", "Optional(7)"), ("tags", "a,b", #"["a", "b"]"#),
            ("numbers", "1,2", "[1, 2]"), ("colors", "red", #"["red"]"#),
            ("date", "2001-01-01T00:00:01Z", "2001-01-01 00:00:01 +0000"),
            ("home", "https://a.org/b", "https://a.org/b"),
            ("price", "1.10", "1.1"), ("server", #"{"port": 1}"#, #"LayerServer(host: "localhost", port: 1)"#),
        ], [false, true])
    func textIsParsed(_ sample: (key: String, text: String, value: String), _ isArgument: Bool) throws {
        let prefs = prefs(sample.key, sample.text, isArgument: isArgument)
        #expect(prefs.lastError == nil)
        #expect(try value(of: sample.key, prefs) == sample.value)
        #expect(prefs.lastError == nil)
        #expect(prefs.source(ofKey: sample.key) == .layer(isArgument ? "arguments" : "environment"))
    }

    @Test(
        arguments: [
            ("size", "many", #"expected Int, found "many": not a number"#),
            ("size", "100", "must be in 8...72, found 100"), ("isOn", "2", #"expected one of true, false, found "2""#),
            ("numbers", "[1,", #"expected Array<Int>, found "[1,": invalid JSON: line 1, column 4: "#),
            ("numbers", #"[1, "a"]"#, "numbers[1]: expected Int, found a string"),
            ("servers", #"[{"host": "a"}]"#, #"servers[0]: the key "port" is missing"#),
            ("servers", #"[{"host": "a", "port": 1.5}]"#, "servers[0].port: expected Int, found a real number"),
            ("server", "[1]", #"expected LayerServer (such as {"host":"localhost","port":80}), found "[1]""#),
            ("limit", "[1]", #"expected Int, found "[1]": not a number"#),
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
            #expect(fault.place == (isArgument ? "-" : "APP_") + sample.key)
            #expect(fault.reason.hasPrefix(sample.reason), "\(fault.reason)")
        }
        try check("a new instance")
        let fresh = try value(of: sample.key, LayerPrefs(store: InMemoryStore()))
        for _ in 0..<2 {
            #expect(try value(of: sample.key, prefs) == fresh)
            try check("a read")
        }
        _ = prefs.values
        try check("a read of all values")
        _ = sample.key == "name" ? prefs.size as Any : prefs.name
        #expect(prefs.lastError == nil, "other keys go on working")
        #expect(prefs.source(ofKey: sample.key) == .default)
    }

    @Test func theMessageNamesLayerVariableAndReason() {
        let prefs = prefs("size", "many", isArgument: false)
        #expect(
            prefs.lastError.map { "\($0)" }
                == "layer environment: APP_size: expected Int, found \"many\": not a number; ignored")
        let covered = self.prefs("size", "20", isArgument: true)
        covered.size = 30
        #expect(
            covered.lastError.map { "\($0)" }
                == "\"size\" is set by the layer arguments (-size); the stored state is unchanged")
    }

    @Test func afterInvalidTextTheNextLayerIsRead() {
        let prefs = LayerPrefs(
            store: LayeredStore(
                InMemoryStore(), above: [.arguments(["p", "-size", "x"]), .variables(["APP_size": "y"])],
                below: [.values(["size": "z"]), .values(["size": 30])]))
        #expect(prefs.size == 30)
        #expect(
            prefs.lastError?.layerFaults.map(\.layer) == ["arguments", "environment", "values"])
        prefs.size = 40
        #expect(prefs.lastError == nil, "an ignored text covers nothing")
        #expect(prefs.size == 40)
        #expect(prefs.$size.source == .stored)
    }

    @Test func anUndeclaredKeyIsAString() {
        let prefs = LayerPrefs(store: LayeredStore(InMemoryStore(), above: [.variables(["APP_plain": "42"])]))
        #expect(prefs["plain"] as? String == "42")
        #expect(prefs.values["plain"] as? String == "42")
        prefs["plain"] = "43"
        #expect(prefs.lastError?.coveredKeys == [CoveredKey(key: "plain", layer: "environment", place: "APP_plain")])
    }

    private func value(of key: String, _ prefs: LayerPrefs) throws -> String {
        switch key {
        case "size": "\(prefs.size)"
        case "name": prefs.name
        case "small": "\(prefs.small)"
        case "ratio": "\(prefs.ratio)"
        case "isOn": "\(prefs.isOn)"
        case "theme": "\(prefs.theme)"
        case "limit": "\(prefs.limit as Any)"
        case "tags": "\(prefs.tags)"
        case "numbers": "\(prefs.numbers)"
        case "colors": "\(prefs.colors.sorted())"
        case "date": "\(prefs.date)"
        case "home": "\(prefs.home)"
        case "price": "\(prefs.price)"
        case "server": "\(prefs.server)"
        case "servers": "\(prefs.servers)"
        case "need": "\(String(describing: prefs.need))"
        default: try #require(nil, "no key \(key)")
        }
    }

    private static let words = [
        "program", "in.txt", "-size", "14", "-x", "-name", "-size", "15", "out", "--", "-size", "1",
    ]

    /// The rest is for the parser of the program.
    @Test func whatTheLayerHasUsedIsLeftOut() {
        let prefs = LayerPrefs(store: LayeredStore(InMemoryStore(), above: [.arguments(Self.words)]))
        #expect(prefs.size == 15 && prefs.name == "-size")
        #expect(
            PrefsLayer.unusedArguments(by: prefs, in: Self.words) == ["in.txt", "-x", "out", "--", "-size", "1"])
        #expect(PrefsLayer.unusedArguments(by: prefs, in: ["program"]) == [])
        #expect(PrefsLayer.unusedArguments(by: prefs, in: ["program", "-size"]) == [])
        #expect(PrefsLayer.unusedArguments(in: ["program", "-size", "1"]) == ["-size", "1"])
    }
}
