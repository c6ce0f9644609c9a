@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// Damage together with another problem: the last good copy is not usable, or links lead to the file.
@Suite struct DamageNeighborsTests {
    private let folder = TemporaryFolder.fresh
    private let damaged = Data("bplist00, or what is left of it".utf8)

    private func prefs(_ name: String = "test.plist") -> AnyPrefs {
        AnyPrefs(store: .propertyList(url: folder.file(name), system: RecordingSystemCalls()))
    }

    private func link(_ name: String, to destination: String) throws {
        try? FileManager.default.removeItem(at: folder.file(name))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file(name).path, withDestinationPath: destination)
    }

    private func quarantined(in subfolder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path + "/" + subfolder)
            .filter { $0.contains(".corrupt-") }
    }

    enum LastGood: CaseIterable {
        case empty, cut, arrayOnTop, oldStyle, fifo, folder, linkToGoodFile, danglingLink
    }

    @Test(arguments: LastGood.allCases) func anInvalidLastGoodCopyIsNotUsed(_ kind: LastGood) throws {
        let copy = folder.file(".test.plist.lastgood")
        prefs()["a"] = 1
        let good = try Data(contentsOf: copy)
        try FileManager.default.removeItem(at: copy)
        switch kind {
        case .empty: try Data().write(to: copy)
        case .cut: try good.dropLast(1).write(to: copy)
        case .arrayOnTop: try writePropertyList([["AnyPrefs": ["a": 1]]], to: copy)
        case .oldStyle: try Data("{ AnyPrefs = { a = 1; }; }".utf8).write(to: copy)
        case .fifo: #expect(mkfifo(copy.path, 0o600) == 0)
        case .folder: #expect(mkdir(copy.path, 0o700) == 0)
        case .linkToGoodFile:
            try good.write(to: folder.file("planted.plist"))
            try link(".test.plist.lastgood", to: "planted.plist")
        case .danglingLink: try link(".test.plist.lastgood", to: "planted.plist")
        }
        try damaged.write(to: folder.file())
        let prefs = prefs()
        let before = try FolderState(folder)
        #expect(prefs.values.isEmpty)
        guard [.empty, .cut, .arrayOnTop, .oldStyle].contains(kind) else {
            // A copy that another user may have planted does not make the file ours.
            prefs["a"] = 2
            #expect(prefs.outcome.hasSuffix("because it may belong to another program"))
            #expect(try FolderState(folder) == before)
            return
        }
        #expect(prefs.outcome.hasSuffix("and nothing is read"))
        #expect(try FolderState(folder) == before)
        prefs["a"] = 2
        #expect(prefs.outcome.hasSuffix("; only this write was stored"))
        #expect(try quarantined().map { try Data(contentsOf: folder.file($0)) } == [damaged])
        #expect(try !folder.names().contains { $0.hasSuffix(".tmp") })
        // At the next damage there is a copy again.
        try damaged.write(to: folder.file())
        #expect(prefs.ints == ["a": 2])
        #expect(prefs.outcome.hasSuffix("the last known state is read"))
    }

    @Test func behindLinksItIsQuarantinedBesideTheFile() throws {
        mkdir(folder.path + "/real", 0o700)
        try link("link.plist", to: "middle.plist")
        try link("middle.plist", to: folder.path + "/real/it.plist")
        let prefs = prefs("link.plist")
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        try damaged.write(to: folder.file("real/it.plist"))
        #expect(prefs.ints == ["a": 1])
        prefs["a"] = 2
        let file = try #require(prefs.lastError?.detail(of: PrefsError.quarantined), "\(prefs.outcome)")
        #expect(file.path == folder.file("real/it.plist").path && file.quarantinedAs != nil)
        #expect(try quarantined(in: "real").map { try Data(contentsOf: folder.file("real/" + $0)) } == [damaged])
        #expect(try folder.names() == ["link.plist", "middle.plist", "real"])
    }

    @Test(arguments: ["real/it.plist", "../real/it.plist", "missing/it.plist", "absolute"])
    func aDanglingLinkIsCreatedThrough(_ destination: String) throws {
        for name in ["real", "links"] { mkdir(folder.path + "/" + name, 0o700) }
        let inLinks = destination.hasPrefix("..")
        let name = inLinks ? "links/link.plist" : "link.plist"
        let target = destination == "absolute" ? folder.path + "/real/it.plist" : destination
        try link(name, to: target)
        let prefs = prefs(name)
        #expect(prefs.values.isEmpty)
        #expect(prefs.outcome == "ok")
        #expect(try quarantined().isEmpty)
        prefs["a"] = 1
        #expect(prefs.outcome == "ok")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file(name).path) == target)
        let created = destination.hasPrefix("missing") ? "missing/it.plist" : "real/it.plist"
        #expect(try propertyList(at: folder.file(created))["AnyPrefs"] as? [String: Int] == ["a": 1])
    }

    /// The link changes between any two accesses. Each access uses the file that the link leads to at that time.
    @Test func aLinkThatIsTurnedBetweenAccesses() throws {
        var models = [["a": 0], ["a": 1], ["a": 2]]
        for (number, model) in models.enumerated() { folder.prefs("\(number).plist").values = model }
        try link("link.plist", to: "0.plist")
        let prefs = prefs("link.plist")
        var random = SeededGenerator(seed: 3)
        for step in 0..<60 {
            let turn = Int.random(in: 0..<3, using: &random)
            try link("link.plist", to: "\(turn).plist")
            switch step % 4 {
            case 0: #expect(prefs["a"] as? Int == models[turn]["a"])
            case 1:
                prefs["b"] = step
                models[turn]["b"] = step
            case 2:
                prefs.update { $0["c"] = ($0["c"] as? Int ?? 0) + 1 }
                models[turn]["c", default: 0] += 1
            default:
                prefs.values["a"] = step
                models[turn]["a"] = step
            }
            #expect(prefs.outcome == "ok")
        }
        for (number, model) in models.enumerated() { #expect(folder.prefs("\(number).plist").ints == model) }
    }
}
