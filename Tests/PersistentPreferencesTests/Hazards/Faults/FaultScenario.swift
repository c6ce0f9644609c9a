@testable import PrefsSupport
import Foundation
import WriteOperations

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsJSON

/// A write, with the states before and after it. One of its system calls at a time fails.
struct FaultScenario: Sendable, CustomStringConvertible {
    let name: String
    var file = "test.plist"
    var format = FileFormat.binary
    var durability = PrefsStore.Durability.powerCut
    /// The old state; nil if nothing is stored before.
    var old: [String: Int]?
    /// Prepares the folder after the old state was stored.
    var preparation: @Sendable (TemporaryFolder) throws -> Void = { _ in }
    /// The number of calls at the beginning that only tidy up. The write succeeds if they fail.
    var tidyingCalls = 0
    /// Whether the instance has read the old state.
    var isRead = true
    let change: @Sendable (AnyPrefs) -> Void
    let new: [String: Int]?

    var description: String { name }

    static let all = situations + operations

    private static let situations: [FaultScenario] = [
        FaultScenario(name: "first write, folders missing", file: "deep/er/test.plist", change: setA, new: ["a": 2]),
        FaultScenario(name: "first write", change: setA, new: ["a": 2]),
        FaultScenario(name: "first write, XML", format: .plainXML, change: setA, new: ["a": 2]),
        FaultScenario(
            name: "change, JSON", format: .json, old: ["a": 1, "b": 1], change: setA, new: ["a": 2, "b": 1]),
        FaultScenario(name: "change of what was not read", old: ["a": 1], isRead: false, change: setA, new: ["a": 2]),
        FaultScenario(name: "unflushed", durability: .crash, old: ["a": 1], change: setA, new: ["a": 2]),
        FaultScenario(
            name: "through a link", old: ["a": 1],
            preparation: {
                try FileManager.default.moveItem(at: $0.file(), to: $0.file("target.plist"))
                try FileManager.default.createSymbolicLink(atPath: $0.file().path, withDestinationPath: "target.plist")
            }, isRead: false, change: setA, new: ["a": 2]),
        FaultScenario(
            name: "after a killed writer", old: ["a": 1],
            preparation: { try Data("half".utf8).write(to: $0.file(".test.plist.tmp")) }, tidyingCalls: 9,
            isRead: false, change: setA,
            new: ["a": 2]),
        FaultScenario(
            name: "another mode", old: ["a": 1], preparation: { chmod($0.file().path, 0o664) }, isRead: false,
            change: setA, new: ["a": 2]),
    ]

    /// Each operation on a root with two values. Those that store several write both.
    private static let operations = WriteOperation.of(.instance).filter { !$0.isAsync && $0 != .initializer }.map {
        operation in
        let new: [String: Int]? =
            switch operation.effect {
            case .puts: ["a": 2, "b": operation.storesSeveralKeys ? 2 : 1]
            case .removes: ["b": 1]
            case .empties: nil
            }
        return FaultScenario(
            name: "\(operation)", old: ["a": 1, "b": 1],
            change: { _ = WriteTarget($0, key: "a", with: ["b": 2]) { 2 }.performBlocking(operation) }, new: new)
    }

    private static let setA: @Sendable (AnyPrefs) -> Void = { $0["a"] = 2 }
}

/// A scenario in its own folder.
struct FaultRig {
    let scenario: FaultScenario
    let folder: TemporaryFolder
    let system = RecordingSystemCalls()

    init(_ scenario: FaultScenario) throws {
        self.scenario = scenario
        folder = try TemporaryFolder()
        system.flushes = false
        if let old = scenario.old {
            let store = PrefsStore.propertyList(
                url: folder.file(scenario.file), format: scenario.format, system: RecordingSystemCalls())
            _ = AnyPrefs(values: old, store: store)
        }
        try scenario.preparation(folder)
    }

    func makePrefs() -> AnyPrefs {
        let store = PrefsStore.propertyList(
            url: folder.file(scenario.file), format: scenario.format, durability: scenario.durability, system: system)
        return AnyPrefs(store: store)
    }

    /// The root on the disk, read by Foundation; nil if it is missing.
    func onDisk() throws -> [String: Int]? {
        let url = folder.file(scenario.file)
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try propertyList(at: url)["AnyPrefs"] as? [String: Int]
    }

    /// The files that a killed or failing writer may leave behind by mistake.
    func leftovers() -> [String] {
        let found = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return found.filter { $0.hasSuffix(".tmp") || $0.contains(".corrupt-") }
    }
}
