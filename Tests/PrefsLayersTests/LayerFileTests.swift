@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import Testing
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsLayers

/// Decoded with an interruption: it acts between the look of a write and its commit.
private struct Style: Codable, Equatable {
    @TaskLocal static var interruption: Interruption?

    var weight = 400

    private enum CodingKeys: CodingKey { case weight }

    init(weight: Int = 400) { self.weight = weight }

    init(from decoder: any Decoder) throws {
        weight = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .weight)
        try Self.interruption?.runOnce()
    }
}

private final class StylePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var style = Style()
}

/// Layers in files: their paths, their faults, and their reported changes.
@Suite(.waits) struct LayerFileTests {
    private let folder = TemporaryFolder.fresh

    private func json(_ values: String, _ name: String) throws {
        try make(name)
        try Data(values.utf8).write(to: folder.file(name), options: .atomic)
    }

    private func plist(_ values: [String: Any], _ name: String) throws {
        try make(name)
        try writePropertyList(values, to: folder.file(name))
    }

    /// Makes the folder of a file.
    private func make(_ name: String) throws {
        try FileManager.default.createDirectory(
            at: folder.file(name).deletingLastPathComponent(), withIntermediateDirectories: true)
    }

    private func prefs(
        above: [PrefsLayer] = [], below: [PrefsLayer] = [], layout: DomainLayout = .roots
    ) -> LayerPrefs {
        let base = PrefsStore.propertyList(url: folder.file("base.plist"), durability: .crash, layout: layout)
        return LayerPrefs(store: .layered(base, above: above, below: below))
    }

    /// The layers of the commit decide, and not those of the look before the lock.
    @Test func aCoverThatAppearsDuringAWriteRejectsIt() throws {
        let base = PrefsStore.propertyList(url: folder.file("base.plist"), durability: .crash)
        let prefs = StylePrefs(
            key: "A", store: .layered(base, above: [.file(folder.file("above.plist"))]))
        // A field that the type does not know is kept, so the write decodes what is stored.
        let before: [String: Any] = ["style": ["weight": 5, "early": 1]]
        try base.update(root: "A") { $0 = before }
        let interruption = Interruption { try plist(["A": ["style": ["weight": 1]]], "above.plist") }
        Style.$interruption.withValue(interruption) { prefs.style = Style(weight: 700) }
        guard case .coveredByLayer(let covers)? = prefs.lastError else {
            Issue.record("\(prefs.lastError as Any)")
            return
        }
        #expect(covers.map(\.topLevelKey) == ["style"] && prefs.style == Style(weight: 1))
        #expect(try base.read(root: "A") as NSDictionary? == before as NSDictionary)
    }

    private func system(_ folders: String, _ name: String = "editor") -> PrefsLayer {
        .system(name, in: ["XDG_CONFIG_DIRS": folders])
    }

    @Test(arguments: [DomainLayout.roots, .flat])
    func aFileIsLaidOutLikeTheBase(_ layout: DomainLayout) throws {
        let (values, text) = (["size": 20], #"{"ratio": 2.5}"#)
        try plist(layout == .flat ? values : ["LayerPrefs": values], "layer.plist")
        try json(layout == .flat ? text : #"{"LayerPrefs": \#(text)}"#, "layer.json")
        let before = try Data(contentsOf: folder.file("layer.json"))
        let prefs = prefs(
            above: [.file(folder.file("layer.plist"))], below: [.file(folder.file("layer.json"))], layout: layout)
        #expect((prefs.size, prefs.ratio) == (20, 2.5))
        #expect(prefs.$size.source == .layer(folder.file("layer.plist").path))
        prefs.size = 30
        let key = try #require(prefs.lastError?.coveredKeys.first)
        #expect(key.layer == folder.file("layer.plist").path)
        #expect(key.path == "size in \(folder.file("layer.plist").path)")
        prefs.ratio = 4.5
        #expect(prefs.lastError == nil)
        #expect(prefs.ratio == 4.5)
        #expect(try Data(contentsOf: folder.file("layer.json")) == before, "never written")
        let base = [".base.plist.lastgood", ".base.plist.lock", "base.plist"]
        #expect(try folder.names() == base + ["layer.json", "layer.plist"])
    }

    /// Each file is looked at. A null is a value of an optional only.
    @Test func theSecondFileCountsToo() throws {
        for name in ["one", "two"] { try json(#"{"LayerPrefs": {"size": null, "limit": null}}"#, "\(name).json") }
        let layers = ["one", "two"].map { PrefsLayer.file(folder.file("\($0).json")) }
        let prefs = prefs(above: layers, below: [.values(["size": 20, "limit": 3])])
        #expect(prefs.limit == nil && prefs.size == 20 && prefs.lastError == nil)
        try json(#"{"LayerPrefs": {"size": 21}}"#, "two.json")
        expectEventually(prefs.size, is: 21)
        try json(#"{"LayerPrefs": {"size": 22}}"#, "one.json")
        expectEventually(prefs.size, is: 22)
    }

    @Test func theFirstFileOfTheSystemCounts() throws {
        let prefs = prefs(below: [system("relative:\(folder.path)/a::\(folder.path)/b")])
        #expect(prefs.size == 12)
        #expect(prefs.lastError == nil, "a missing file is no error")
        try json(#"{"LayerPrefs": {"size": 20, "ratio": 2.5}}"#, "b/editor.json")
        #expect(prefs.size == 20)
        try json(#"{"LayerPrefs": {"size": 21}}"#, "a/editor.json")
        #expect((prefs.size, prefs.ratio) == (21, 0.5), "files are not merged")
        try plist(["LayerPrefs": ["size": 30]], "b/editor.plist")
        #expect(prefs.size == 21, "the format of a later folder does not matter")
        try FileManager.default.removeItem(at: folder.file("b/editor.plist"))
        try plist(["LayerPrefs": ["size": 22]], "a/editor.plist")
        #expect(prefs.size == 22)
        #expect(prefs.$size.source == .layer("system"))
        try FileManager.default.removeItem(at: folder.file("a"))
        expectEventually(prefs.size, is: 20)
    }

    @Test(arguments: [nil, ""])
    func withoutTheVariableItIsTheUsualFolder(_ text: String?) {
        let layer = PrefsLayer.system("editor", in: text.map { ["XDG_CONFIG_DIRS": $0, "HOME": "/home/x"] } ?? [:])
        guard case .file(let file) = layer.source else { return #expect(Bool(false), "no file") }
        #expect(file.locations.map(\.path) == ["/etc/xdg/editor.plist", "/etc/xdg/editor.json"])
    }

    @Test func aBadPlaceOfALayerIsReported() throws {
        let url = "https://example.org/a.plist"
        let prefs = prefs(
            above: [.file(try #require(URL(string: url)))], below: [.system("a/b", in: [:]), .values(["size": 20])])
        for _ in 0..<2 {
            #expect(prefs.lastError?.layerFaults.map(\.layer) == [url, "system"])
            #expect("\(try #require(prefs.lastError))".contains("is not a file URL"))
            #expect(prefs.size == 20, "the other layers go on working")
        }
    }

    private static let (folder, linkLoop) = ("a folder", "a loop of links")

    /// The texts of files, and what the error says.
    private static let damages = [
        #"{"LayerPrefs": {"size": 99"#: "line 1, column",
        "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>": "line",
        "size = 20": "line 1, column 1: expected a value", "[1, 2]": "top level",
        #"{"LayerPrefs": 5}"#: "the root \"LayerPrefs\" is not a dictionary", folder: "is a folder",
        linkLoop: "Too many levels of symbolic links",
    ]

    @Test(arguments: damages)
    func aDamagedLayerIsReportedAndIgnored(_ damage: String, _ reason: String) throws {
        let name = damage.hasPrefix("<") ? "bad.plist" : "bad.json"
        switch damage {
        case Self.folder:
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        case Self.linkLoop:
            try FileManager.default.createSymbolicLink(atPath: folder.file(name).path, withDestinationPath: name)
        default: try json(damage, name)
        }
        let before = try? Data(contentsOf: folder.file(name))
        let prefs = prefs(
            above: [.file(folder.file(name)), .variables(["APP_size": "20"])], below: [.values(["ratio": 2.5])])
        func check() throws {
            let error = try #require(prefs.lastError)
            let fault = try #require(error.layerFaults.first)
            #expect(error.isWarning)
            #expect(error.layerFaults.count == 1)
            #expect(fault.layer == folder.file(name).path)
            #expect(fault.path == folder.file(name).path)
            #expect(fault.reason.contains(reason), "\(fault.reason)")
        }
        try check()
        for _ in 0..<2 {
            #expect((prefs.size, prefs.ratio) == (20, 2.5))
            try check()
        }
        #expect(prefs.$name.set("x") == nil)
        #expect(prefs.name == "x")
        #expect((try? Data(contentsOf: folder.file(name))) == before)
    }

    /// The reason is that of now.
    @Test func aDamagedLayerKeepsWhatTheProcessKnows() throws {
        let layer = folder.file("layer.json")
        try FileManager.default.createDirectory(at: layer, withIntermediateDirectories: true)
        let prefs = prefs(above: [.file(layer)])
        #expect(prefs.size == 12)
        #expect(prefs.lastError?.layerFaults.map { $0.reason.contains("is a folder") } == [true])
        try FileManager.default.removeItem(at: layer)
        try json(#"{"LayerPrefs": {"size": 20}}"#, "layer.json")
        #expect(prefs.size == 20)
        try json(#"{"LayerPrefs": {"size": 30"#, "layer.json")
        // At first, it may be half of a save.
        expectEventually((prefs.size, prefs.lastError), "another size than 20, or an error") {
            $0.0 != 20 || $0.1 != nil
        }
        #expect(prefs.size == 20)
        #expect(prefs.lastError?.layerFaults.map { $0.reason.contains("line 1, column") } == [true])
        try json(#"{"LayerPrefs": {"size": 30}}"#, "layer.json")
        #expect(prefs.size == 30)
        #expect(prefs.lastError == nil)
    }

    @Test func aValueThatDoesNotFitIsReportedAndIgnored() throws {
        try json(#"{"LayerPrefs": {"size": 100, "ratio": "x", "name": "file"}}"#, "layer.json")
        let path = folder.file("layer.json").path
        let prefs = prefs(above: [.file(folder.file("layer.json"))])
        #expect(
            prefs.lastError
                == .ignoredInLayer([
                    PrefsProblem(layer: path, place: "size in \(path)", reason: "must be in 8...72"),
                    PrefsProblem(layer: path, place: "ratio in \(path)", reason: "expected Double, found a string"),
                ]))
        #expect((prefs.size, prefs.ratio, prefs.name) == (12, 0.5, "file"))
        prefs.size = 30
        #expect(prefs.size == 30)
    }

    @Test(arguments: [false, true])
    func aLayerOnTheFileOfTheBaseIsACycle(_ isLinked: Bool) throws {
        let base = folder.file("base.plist")
        let link = folder.file("link.plist")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: base)
        for layer in [PrefsLayer.file(isLinked ? link : base), .system("base", in: ["XDG_CONFIG_DIRS": folder.path])] {
            let prefs = prefs(above: [layer, .variables(["APP_ratio": "2.5"])])
            let fault = try #require(prefs.lastError?.layerFaults.first)
            #expect(fault.layer == layer.name)
            #expect(fault.reason == "the layer reads the file of the base")
            #expect(fault.path == (isLinked && layer.name != "system" ? link : base).path)
            let size = prefs.size + 1
            prefs.size = size
            #expect(prefs.lastError?.coveredKeys.isEmpty != false)
            #expect((prefs.size, prefs.ratio) == (size, 2.5))
        }
    }

    @Test func otherFilesOfALayerOnTheFileOfTheBaseAreRead() throws {
        try json(#"{"LayerPrefs": {"ratio": 2.5}}"#, "base.json")
        let prefs = prefs(below: [system(folder.path, "base")])
        let fault = PrefsProblem(
            layer: "system", place: folder.file("base.plist").path, reason: "the layer reads the file of the base")
        #expect(prefs.lastError == .ignoredInLayer([fault]))
        prefs.size = 20
        #expect((prefs.size, prefs.ratio) == (20, 2.5))
        #expect(prefs.lastError == .ignoredInLayer([fault]))
    }

    /// Each of several paths that lead there is left out, and the file behind them is read.
    @Test(arguments: [1, 2, 3]) func eachPathToTheFileOfTheBaseIsLeftOut(_ count: Int) throws {
        let links = (0..<count).map { folder.file("\($0)/editor.plist") }
        for link in links {
            try FileManager.default.createDirectory(
                at: link.deletingLastPathComponent(), withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.file("base.plist"))
        }
        try json(#"{"LayerPrefs": {"ratio": 2.5}}"#, "last/editor.json")
        let folders = (0..<count).map { "\(folder.path)/\($0)" } + ["\(folder.path)/last"]
        let prefs = prefs(above: [system(folders.joined(separator: ":"))])
        let faults = links.map { link in
            PrefsProblem(layer: "system", place: link.path, reason: "the layer reads the file of the base")
        }
        for size in [20, 21] {
            #expect(prefs.$size.set(size) == nil, "no layer covers it")
            #expect((prefs.size, prefs.ratio) == (size, 2.5) && prefs.lastError == .ignoredInLayer(faults))
        }
    }

    /// Also if none of them is the first of its side.
    @Test(arguments: [(1, 0), (0, 1), (2, 0), (0, 2), (1, 1), (2, 2)])
    func eachLayerOnTheFileOfTheBaseIsACycle(_ above: Int, _ below: Int) throws {
        let base = folder.file("base.plist")
        func layers(_ count: Int) -> [PrefsLayer] {
            [.values(["ratio": 2.5], name: "values")] + (0..<count).map { _ in .file(base) }
        }
        let prefs = prefs(above: layers(above), below: layers(below))
        let name = PrefsLayer.file(base).name
        let fault = PrefsProblem(layer: name, place: base.path, reason: "the layer reads the file of the base")
        for size in [20, 21] {
            #expect(prefs.$size.set(size) == nil, "no layer covers it")
            #expect(prefs.$size.source == .stored && prefs.size == size)
            #expect(prefs.lastError == .ignoredInLayer(Array(repeating: fault, count: above + below)))
        }
        prefs.$size.reset()
        #expect(prefs.size == LayerPrefs(store: .memory()).size)
    }

    @Test func aCycleThroughALayeredBaseIsReported() throws {
        let base = PrefsStore.propertyList(url: folder.file("base.plist"), durability: .crash)
        let file = PrefsLayer.file(folder.file("base.plist"))
        for store in [
            PrefsStore.layered(.layered(base), above: [file]),
            PrefsStore.layered(.layered(.layered(base, below: [file]))),
        ] {
            let prefs = LayerPrefs(store: store)
            #expect(prefs.lastError?.layerFaults.map(\.reason) == ["the layer reads the file of the base"])
            #expect(prefs.$size.set(20) == nil)
            #expect(prefs.$size.set(21) == nil)
            #expect(prefs.$size.source == .stored)
            prefs.$size.reset()
        }
    }

    // MARK: - Observation

    @Test(arguments: ["layer.json", "later/layer.json"])
    func changesOfALayerAreReported(_ name: String) throws {
        let prefs = prefs(
            above: [.file(folder.file(name)), .variables(["APP_name": "above"])], below: [.values(["ratio": 2.5])])
        let heard = Observer<String> { tell in
            prefs.onChange { change in
                let texts = change.keys.map { key in
                    "\(key): \(change.oldValues[key] ?? "-") → \(change.newValues[key] ?? "-") \(change.origin)"
                }
                tell(texts.joined(separator: ", "))
            }
        }
        let values = Observer<Int> { tell in prefs.$size.onChange { tell($1) } }
        #expect(prefs.lastError == nil)
        func write(_ values: String) throws { try json(#"{"LayerPrefs": {"name": "hidden", \#(values)}}"#, name) }
        try write(#""size": 20"#)
        heard.wait(for: 1)
        values.wait { $0.last == 20 }
        #expect(heard.all == ["name: above → hidden elsewhere, size: - → 20 elsewhere"])
        prefs.ratio = 1.5
        heard.wait(for: 2)
        #expect(heard.all.last == "ratio: 2.5 → 1.5 thisProcess", "merged values")
        prefs.isOn = true
        LayerPrefs(store: .propertyList(url: folder.file("base.plist"), durability: .crash)).size = 50
        prefs.$ratio.reset()
        heard.wait(for: 4)
        #expect(
            heard.all.suffix(2) == ["isOn: - → true thisProcess", "ratio: 1.5 → 2.5 thisProcess"], "size is covered")
        try write(#""size": 21, "ratio": 3.5"#)
        values.wait { $0.last == 21 }
        heard.wait(for: 5)
        #expect(values.all == [20, 21])
        try FileManager.default.removeItem(at: folder.file(name))
        values.wait { $0.last == 50 }
        heard.wait(for: 6)
        #expect(prefs.name == "above")
    }

    @Test func theStoreReportsChangesOfLayers() throws {
        let store = PrefsStore.layered(.memory(), above: [.file(folder.file("layer.json"))], below: [.values(["b": 1])])
        let heard = try Observer<[String]> { tell in
            try store.observe(root: "A") { tell($0.keys + ["\($0.origin)"]) }
        }
        try json(#"{"A": {"a": 1}}"#, "layer.json")
        heard.wait(for: 1)
        try store.update(root: "A") { $0?["b"] = 2 }
        #expect(heard.wait(for: 2) == [["a", "elsewhere"], ["b", "thisProcess"]])
    }
}
