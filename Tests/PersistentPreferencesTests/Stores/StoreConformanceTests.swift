@testable import PrefsSupport
import AppleModels
import Foundation
import PersistentPreferences
import PrefsStoreKit
import PrefsDocuments
import Testing
import PrefsJSON
import PrefsLayers

/// Every store that can be made in this process passes every check; the domain of UserDefaults is checked in children.
@Suite struct StoreConformanceTests {
    enum Kind: String, CaseIterable {
        case memory, binaryFile, xmlFile, xmlTextFile, jsonFile, fileBehindLink, unflushedFile, flatFile, flatJSONFile
        /// Has no `observe`.
        case foreign
        case simulated, simulatedFlat

        var isFlat: Bool { rawValue.lowercased().contains("flat") }

        fileprivate var layers: [Layers] {
            switch self {
            case .memory, .unflushedFile, .jsonFile, .flatFile, .flatJSONFile: Layers.allCases
            case .foreign: [.missing, .quiet]
            default: [.missing]
            }
        }

        fileprivate func checks(in layers: Layers) -> [StoreCheck] {
            // A flat domain has one root for all root keys. An empty domain counts as missing, because `UserDefaults`
            // does not distinguish the two. `FlatLayoutTests` has the rules that hold instead.
            var inapplicable = isFlat ? ["rootsAreSeparate", "otherRootIsNoChange", "emptyIsNotMissing"] : []
            // A merged root always has the entries of its layers, so it is never empty.
            if layers == .merged { inapplicable.append("emptyIsNotMissing") }
            let all = self == .foreign ? StoreCheck.all : StoreCheck.all + StoreCheck.observing
            return all.filter { !inapplicable.contains($0.id) }
        }
    }

    /// The layers around a store.
    enum Layers: CaseIterable {
        /// The store itself.
        case missing
        /// A layered store without layers.
        case none
        /// Layers that have no entries in the roots of the checks.
        case quiet
        /// Layers that have entries in the roots of the checks; see `MergedBackend`.
        case merged
    }

    /// The usual form makes half of the checks of a store.
    private static let table = Kind.allCases.flatMap { kind in kind.layers.map { (kind, $0) } }.enumerated().flatMap {
        number, row in
        Hazard.each(2, of: row.0.checks(in: row.1), from: number).map { (row.0, row.1, $0) }
    }

    @Test(arguments: table)
    func storePasses(_ kind: Kind, _ layers: Layers, _ check: StoreCheck) throws {
        let folder = try TemporaryFolder()
        let process = ModelDaemon(isAutomatic: true).process()
        let memory = PrefsStore.memory()
        let foreign = ForeignBackend(memory)
        if kind == .fileBehindLink {
            // The link is dangling at first. The file is made at its target.
            try FileManager.default.createSymbolicLink(at: folder.file("link.plist"), withDestinationURL: folder.file())
        }
        let around = try LayersOfChecks(in: folder, layout: kind.isFlat ? .flat : .roots)
        @Sendable func file(
            _ name: String = "test.plist", _ format: FileFormat = .binary, _ layout: DomainLayout = .roots,
            _ durability: PrefsStore.Durability = .crash
        ) -> PrefsStore {
            .propertyList(url: folder.file(name), format: format, durability: durability, layout: layout)
        }
        @Sendable func store() -> PrefsStore {
            switch kind {
            case .memory: memory
            case .binaryFile: file("test.plist", .binary, .roots, .powerCut)
            case .xmlFile: file("test.plist", .plainXML, .roots, .powerCut)
            case .xmlTextFile: file("test.plist", .xml, .roots, .powerCut)
            case .jsonFile: file("test.json", .json)
            case .fileBehindLink: file("link.plist", .binary, .roots, .powerCut)
            case .unflushedFile: file()
            case .flatFile: file("test.plist", .binary, .flat)
            case .flatJSONFile: file("test.json", .json, .flat)
            case .foreign: foreign.store
            case .simulated: PrefsStore.userDefaults(process)
            case .simulatedFlat: PrefsStore.userDefaults(process, layout: .flat)
            }
        }
        // Updates through layers use the store below them, at a higher cost.
        try check.run(updates: Hazard.count(12, long: 50) / (layers == .missing ? 1 : 2)) {
            let base = store()
            return switch layers {
            case .missing: kind == .foreign ? foreign : CheckedStore(base)
            case .none: CheckedStore(PrefsStore.layered(base))
            case .quiet: CheckedStore(PrefsStore.layered(base, above: around.quiet, below: around.quiet))
            case .merged: MergedBackend(base, PrefsStore.layered(base, above: around.above, below: around.below))
            }
        }
    }

    /// An object that no value can express is returned and kept unchanged.
    @Test func anObjectThatBreaksTheRulesIsKept() {
        let backend = NullBackend()
        let prefs = AnyPrefs(store: backend.store)
        prefs["a"] = 2
        #expect(prefs["b"] is NSNull && prefs.lastError == nil)
        #expect(backend.root.count == 2 && backend.root["a"] as? Int == 2 && backend.root["b"] is NSNull)
        prefs["b"] = nil
        #expect(backend.root as NSDictionary == ["a": 2])
    }
}

/// A backend that breaks the rules.
private final class NullBackend: PrefsBackend {
    private let stored = Locked<[String: Any]?>(["a": 1, "b": NSNull()])

    var root: [String: Any] { stored.withLock { $0 } ?? [:] }

    func read(root: String) -> [String: Any]? { stored.withLock { $0 } }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try stored.withLock { try body(&$0) }
    }
}

/// The layers that the checks are run with.
private struct LayersOfChecks {
    /// Have entries, but none in the roots of the checks: texts, which a store leaves out, and files with other roots,
    /// or in a flat domain without entries.
    let quiet: [PrefsLayer]
    let above: [PrefsLayer]
    let below: [PrefsLayer]

    init(in folder: TemporaryFolder, layout: DomainLayout) throws {
        let texts: [PrefsLayer] = [
            .environment(prefix: "", in: ["a": "1", "n": "2", "b": "3"]), .arguments(["program", "-n", "7"]),
        ]
        let folders = ["XDG_CONFIG_DIRS": folder.path]
        let isFlat = layout == .flat
        try writePropertyList(isFlat ? [:] : ["Z": ["n": 1]], to: folder.file("quiet.plist"))
        try Data((isFlat ? "{}" : #"{"Y": {"n": 1}}"#).utf8).write(to: folder.file("quietsystem.json"))
        quiet = texts + [.file(folder.file("quiet.plist")), .system("quietsystem", in: folders), .values([:])]

        func write(_ entries: [String: Any], _ name: String) throws {
            let roots = ["A", "B", "B/../."].map { ($0, entries) }
            let content = isFlat ? entries : Dictionary(uniqueKeysWithValues: roots)
            try JSONSerialization.data(withJSONObject: content).write(to: folder.file(name))
        }
        try write(["first": "hidden", "top": "above"], "above.json")
        try write(["a": -1, "b": -1, "n": -1, "0": -1], "system.json")
        above = texts + [.values(["first": "above"]), .file(folder.file("above.json"))]
        below = [.system("system", in: folders), .values(["a": -2, "n": -2, "last": -1])]
    }
}

/// A layered store whose layers have entries in the roots of the checks, in a form that the checks can use.
///
/// The layers above set keys that the checks do not write. The layers below set keys that the checks write, to values
/// that they never write. Such a value stands for a missing entry. So a written entry must win over the layer, and a
/// removed entry must show the layer again. Every merged state is compared with the layers, and the base must not get
/// their entries.
private final class MergedBackend: PrefsBackend {
    /// The entries of each merged root besides those that the checks write.
    private static let covered = ["first": "above", "top": "above"]
    private static let defaults = ["a": -1, "b": -1, "n": -1, "0": -1, "last": -1]
    private let base: PrefsStore
    private let store: PrefsStore

    struct WrongState: Error {
        let state: String
    }

    init(_ base: PrefsStore, _ store: PrefsStore) {
        self.base = base
        self.store = store
    }

    /// The entries of a merged state that do not come from layers; nil if there are none.
    private static func own(_ merged: [String: Any]?) throws -> [String: Any]? {
        guard let merged, covered.allSatisfy({ merged[$0.key] as? String == $0.value }),
            defaults.keys.allSatisfy({ merged[$0] != nil })
        else { throw WrongState(state: "\(merged ?? [:])") }
        let own = stripped(merged)
        return own.isEmpty ? nil : own
    }

    private static func stripped(_ values: [String: Any]) -> [String: Any] {
        values.filter { key, value in
            covered[key] == nil && (defaults[key] == nil || value as? Int != defaults[key])
        }
    }

    func read(root: String) throws -> [String: Any]? {
        let stored = try base.read(root: root) ?? [:]
        guard Self.stripped(stored).count == stored.count else { throw WrongState(state: "stored: \(stored)") }
        return try Self.own(store.read(root: root))
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.update(root: root) { merged in
            let before = try Self.own(merged)
            var after = before
            try body(&after)
            // The entries of layers stay, except those that the body has removed.
            let layers = merged?.filter { before?[$0.key] == nil } ?? [:]
            if before != nil || after != nil { merged = after.map { $0.merging(layers) { own, _ in own } } }
        }
    }

    func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try store.observe(root: root) { change in
            let (old, new) = (Self.stripped(change.oldValues), Self.stripped(change.newValues))
            if let own = PrefsChange(root: root, from: old, to: new, origin: change.origin) { action(own) }
        }
    }
}
