import AppleModels
import Foundation
import PersistentPreferences
import PrefsTesting
import TestSupport
import Testing

/// Every store that can be made in this process passes every check; the domain of UserDefaults is checked in children.
@Suite struct StoreConformanceTests {
    enum Kind: String, CaseIterable {
        case inMemory, binaryFile, xmlFile, jsonFile, fileBehindLink, unflushedFile, flatFile, flatJSONFile, foreign,
            account
        case simulated, simulatedFlat
        case layered, layeredFile, layeredFlatFile, layeredForeign

        var isFlat: Bool { [.flatFile, .flatJSONFile, .simulatedFlat, .layeredFlatFile].contains(self) }

        var checks: [StoreCheck] {
            // This one has no `observe`.
            let all =
                self == .foreign || self == .layeredForeign ? StoreCheck.all : StoreCheck.all + StoreCheck.observing
            // A flat domain has one root, whatever its name; and an empty one counts as missing.
            let ofRoots = ["rootsAreSeparate", "emptyIsNotMissing", "otherRootIsNoChange", "closureMayUseTheStore"]
            return isFlat ? all.filter { !ofRoots.contains($0.name) } : all
        }
    }

    @Test(arguments: Kind.allCases.flatMap { kind in kind.checks.map { (kind, $0) } })
    func storePasses(_ kind: Kind, _ check: StoreCheck) throws {
        let folder = try TemporaryFolder()
        let process = ModelDaemon(isAutomatic: true).process()
        let memory = InMemoryStore()
        if kind == .fileBehindLink {
            // Dangling at first: the file is made at its target.
            try FileManager.default.createSymbolicLink(at: folder.file("link.plist"), withDestinationURL: folder.file())
        }
        // Layers have something to say, but not about the roots of the checks; those are in `LayeredStoreTests`.
        let texts: [PrefsLayer] = [
            .environment(prefix: "", in: ["a": "1", "n": "2", "b": "3"]), .arguments(["program", "-n", "7"]),
        ]
        let folders = ["XDG_CONFIG_DIRS": folder.path]
        try writePropertyList(["Z": ["n": 1]], to: folder.file("layer.plist"))
        try Data(#"{"Y": {"n": 1}}"#.utf8).write(to: folder.file("editor.json"))
        let layers = texts + [.file(folder.file("layer.plist")), .system("editor", in: folders), .values([:])]
        try check.run {
            switch kind {
            case .inMemory: memory
            case .binaryFile: PropertyListFileStore(url: folder.file())
            case .xmlFile: PropertyListFileStore(url: folder.file(), format: .xml)
            case .jsonFile: PropertyListFileStore(url: folder.file("test.json"), format: .json)
            case .flatJSONFile: PropertyListFileStore(url: folder.file("test.json"), format: .json, layout: .flat)
            case .fileBehindLink: PropertyListFileStore(url: folder.file("link.plist"))
            case .unflushedFile: PropertyListFileStore(url: folder.file(), durability: .process)
            case .flatFile: PropertyListFileStore(url: folder.file(), durability: .process, layout: .flat)
            case .simulated: UserDefaultsStore(process)
            case .simulatedFlat: UserDefaultsStore(process, layout: .flat)
            case .foreign: ForeignStore(memory)
            case .account: AccountStore(account: "ann", in: memory)
            case .layered: LayeredStore(memory)
            case .layeredFile: LayeredStore(PropertyListFileStore(url: folder.file()), above: layers, below: layers)
            case .layeredFlatFile: LayeredStore(PropertyListFileStore(url: folder.file(), layout: .flat), above: texts)
            case .layeredForeign: LayeredStore(ForeignStore(memory), above: texts, below: layers)
            }
        }
    }
}

/// A store from outside the package: it has the public requirements and nothing else.
final class ForeignStore: PrefsStore {
    private let store: InMemoryStore

    init(_ store: InMemoryStore = InMemoryStore()) {
        self.store = store
    }

    func read(root: String) throws -> [String: Any]? {
        try store.read(root: root)
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.update(root: root, body)
    }
}
