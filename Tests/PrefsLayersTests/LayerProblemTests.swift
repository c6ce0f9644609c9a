import Foundation
import PrefsJSON
import Testing
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsLayers
@testable import PrefsSupport

/// What `problems()` and `onError` say of the files of layers: the keys that no class has, and files that cannot be used.
@Suite(.waits) struct LayerProblemTests {
    private final class ServerPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var port = 80
        @Pref var host = ""
    }

    private let folder = TemporaryFolder.fresh

    private func put(_ values: [String: Any], _ name: String, layout: DomainLayout) throws {
        let content = layout == .flat ? values : ["ServerPrefs": values]
        if name.hasSuffix(".plist") {
            try writePropertyList(content, to: folder.file(name))
        } else {
            try JSONSerialization.data(withJSONObject: content).write(to: folder.file(name), options: .atomic)
        }
    }

    private func store(_ layout: DomainLayout, below: PrefsLayer...) -> PrefsStore {
        .layered(
            PrefsStore.json(url: folder.file("base.json"), durability: .crash, layout: layout), below: below)
    }

    private func layer(_ name: String, isOfSystem: Bool = false) -> PrefsLayer {
        isOfSystem
            ? .system(String(name.prefix { $0 != "." }), in: ["XDG_CONFIG_DIRS": folder.path])
            : .file(folder.file(name))
    }

    // MARK: - Keys

    @Test(arguments: ["layer.json", "layer.plist"], [DomainLayout.roots, .flat])
    func aMisspeltKeyIsNamed(_ name: String, _ layout: DomainLayout) throws {
        for isOfSystem in [false, true] {
            try put(["prot": 5, "unlike": 1, "host": "h"], name, layout: layout)
            let prefs = ServerPrefs(store: store(layout, below: layer(name, isOfSystem: isOfSystem)))
            let heard = prefs.errorObserver()
            let path = folder.file(name).path
            // Other versions and other code have keys in a property list.
            let others = name.hasSuffix(".json") ? [("unlike", "")] : []
            let expected = ([("prot", #"; did you mean "port"?"#)] + others).map {
                (place: "\($0.0) in \(path)", reason: "is not a key of ServerPrefs" + $0.1)
            }
            let problems = prefs.problems()
            #expect(problems.map(\.path) == expected.map(\.place) && problems.map(\.reason) == expected.map(\.reason))
            #expect(problems.allSatisfy { $0.kind == .unknownKey && $0.topLevelKey.isEmpty })
            let layer = isOfSystem ? "system" : path
            #expect(problems.allSatisfy { $0.source == .layer(layer) })
            #expect(
                problems.map(\.description)
                    == expected.map { "\($0.place): " + (isOfSystem ? "system: " : "") + $0.reason })
            #expect(heard.all == problems.map(\.description), "one text for one problem")
            #expect(prefs.host == "h" && prefs.lastError == nil, "an access does not look at other keys")
            // The end is no error, and the next one is told.
            try put(["port": 5], name, layout: layout)
            expectEventually(prefs.problems(), is: [])
            expectEventually(prefs.port, is: 5)
            try put(["hots": "h"], name, layout: layout)
            heard.wait { $0.last?.contains(#"did you mean "host"?"#) == true }
        }
    }

    /// Neither in the layer nor in the base.
    @Test func classesOfOneFlatFileDoNotNameEachOthersKeys() throws {
        // Of this test alone: the process remembers the places of a class's first instance.
        final class OnePrefs: PersistentPrefs, @unchecked Sendable { @Pref var port = 80 }
        final class OtherPrefs: PersistentPrefs, @unchecked Sendable { @Pref var level = 0 }
        try put(["port": 1, "level": 2, "levle": 3], "layer.json", layout: .flat)
        try put(["port": 1, "hots": "x"], "base.json", layout: .flat)
        let store = store(.flat, below: layer("layer.json"))
        let (one, other) = (OnePrefs(store: store), OtherPrefs(store: store))
        let place = "levle in \(folder.file("layer.json").path)"
        #expect(one.problems().map(\.path) == [place, "hots"])
        #expect(other.problems().map(\.path) == [place, "hots"])
        #expect(other.problems().first?.reason == #"is not a key of OtherPrefs; did you mean "level"?"#)
        #expect((one.port, other.level) == (1, 2))
    }

    // MARK: - Files

    private static let (folder, loop, dangling, null) = ("a folder", "a loop", "a dangling link", "/dev/null")

    private func make(_ content: String, _ name: String) throws {
        let path = folder.file(name).path
        switch content {
        case Self.folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        case Self.loop: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: name)
        case Self.dangling: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "none")
        case Self.null: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: Self.null)
        default: try Data(content.utf8).write(to: folder.file(name))
        }
    }

    /// In `problems()`, `onError` and `lastError`, and for what a layer covers.
    @Test(
        arguments: [
            folder, loop, "[1]", #"{"ServerPrefs": {,"#, #"{"ServerPrefs": 5}"#, #"{"ServerPrefs": {"port": "x"}}"#,
            #"{"ServerPrefs": {"prot": 1}}"#,
        ], [false, true])
    func aPathStandsOnce(_ content: String, _ isOfSystem: Bool) throws {
        try make(content, "layer.json")
        let path = folder.file("layer.json").path
        let prefs = ServerPrefs(store: store(.roots, below: layer("layer.json", isOfSystem: isOfSystem)))
        let problems = prefs.problems()
        let heard = prefs.errorObserver().all
        #expect(problems.count == 1 && heard.first == problems.first.map { "\($0.error)" })
        #expect(prefs.port == 80)
        // An access does not look at other keys.
        let isKey = content.contains("prot")
        #expect((prefs.lastError == nil) == isKey)
        for text in problems.map(\.description) + heard + [prefs.lastError.map { "\($0)" } ?? path] {
            #expect(text.components(separatedBy: path).count == 2, "\(text)")
        }
        let kind: PrefsProblem.Kind = isKey ? .unknownKey : content.contains("port") ? .value : .store
        #expect(problems.map(\.kind) == [kind])
        #expect(problems.map(\.source) == [.layer(isOfSystem ? "system" : path)])
    }

    @Test func whatALayerCoversNamesItsFileOnce() throws {
        try put(["port": 5], "layer.json", layout: .flat)
        let path = folder.file("layer.json").path
        for layer in [layer("layer.json"), layer("layer.json", isOfSystem: true)] {
            let prefs = ServerPrefs(store: .layered(store(.flat), above: [layer]))
            let place = layer.name == path ? path : "system (port in \(path))"
            let error = try #require(prefs.$port.set(6))
            #expect("\(error)" == "\"port\" is set by the layer \(place); the stored state is unchanged")
        }
    }

    @Test func aURLOfNoFileIsNamedOnce() throws {
        let url = try #require(URL(string: "https://example.org/a.json"))
        let prefs = ServerPrefs(store: store(.flat, below: .file(url)))
        #expect(prefs.problems().map(\.description) == ["https://example.org/a.json: is not a file URL"])
        #expect("\(try #require(prefs.lastError))" == "layer https://example.org/a.json: is not a file URL; ignored")
    }

    @Test(arguments: [dangling, null], [false, true])
    func aLinkToNothingIsNoFile(_ content: String, _ isOfSystem: Bool) throws {
        try make(content, "layer.json")
        let prefs = ServerPrefs(store: store(.roots, below: layer("layer.json", isOfSystem: isOfSystem)))
        let heard = prefs.errorObserver()
        for _ in 0..<3 { #expect(prefs.port == 80 && prefs.lastError == nil) }
        #expect(prefs.problems() == [] && heard.all == [])
        #expect(prefs.$port.set(1) == nil)
        prefs.$port.reset()
        // A file that takes its place is read.
        try FileManager.default.removeItem(at: folder.file("layer.json"))
        try put(["port": 5], "layer.json", layout: .roots)
        expectEventually(prefs.port, is: 5)
        #expect(prefs.lastError == nil && heard.all == [])
        // And the other way round: what is known of the file no longer counts.
        try FileManager.default.removeItem(at: folder.file("layer.json"))
        try make(content, "layer.json")
        expectEventually(prefs.port, is: 80)
        #expect(prefs.lastError == nil && prefs.problems() == [])
    }

    @Test func theNullDeviceIsNoFile() throws {
        let prefs = ServerPrefs(store: store(.roots, below: .file(URL(filePath: "/dev/null")), .values(["port": 5])))
        let heard = prefs.errorObserver()
        let values = Observer<Int> { tell in prefs.$port.onChange { tell($1) } }
        for _ in 0..<3 { #expect(prefs.port == 5 && prefs.lastError == nil) }
        #expect(prefs.problems() == [] && heard.all == [])
        #expect(prefs.$port.set(7) == nil)
        values.wait(for: 1)
        #expect(values.all == [7])
        let system = ServerPrefs(
            store: store(.roots, below: .system("layer", in: ["XDG_CONFIG_DIRS": "/dev/null"]), .values(["port": 6])))
        #expect(system.problems() == [] && system.host == "" && system.lastError == nil)
    }

    @Test func eachFaultOfAValueIsTold() {
        let wrong = URL(filePath: "/")
        let prefs = ServerPrefs(
            store: .layered(
                .memory(), above: [.values(["port": ["a": wrong, "b": [1, wrong]] as [String: Any], "host": "h"])]))
        #expect(prefs.port == 80 && prefs.host == "h")
        #expect(prefs.problems().map(\.path).sorted() == ["port.a", "port.b[1]"])
    }

    // MARK: - Sources

    /// By the source, a program ends if an option is wrong, and goes on if something else is.
    @Test func aProblemHasItsSource() throws {
        try put(["port": "x", "hots": ""], "layer.json", layout: .flat)
        try put(["prot": 1, "host": 2], "base.json", layout: .flat)
        let base = PrefsStore.json(url: folder.file("base.json"), durability: .crash, layout: .flat)
        let prefs = ServerPrefs(
            store: .layered(
                base,
                above: [
                    .arguments(["p", "--port", "many", "--hots=x"]),
                    .environment(prefix: "APP_", in: ["APP_PORT": "many", "APP_PROT": "1"]), layer("layer.json"),
                    .values(["port": 1.5], name: "options"),
                ]))
        let found = Dictionary(grouping: prefs.problems(), by: \.source).mapValues { $0.map(\.path) }
        let path = folder.file("layer.json").path
        #expect(
            found == [
                .layer("arguments"): ["--port", "--hots"], .layer("environment"): ["APP_PORT", "APP_PROT"],
                .layer(path): ["port in \(path)", "hots in \(path)"], .layer("options"): ["port"],
                .stored: ["host", "prot"],
            ])
    }
}
