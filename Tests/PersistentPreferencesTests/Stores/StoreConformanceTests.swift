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

        var isFlat: Bool { [.flatFile, .flatJSONFile, .simulatedFlat].contains(self) }

        var checks: [StoreCheck] {
            // This one has no `observe`.
            let all = self == .foreign ? StoreCheck.all : StoreCheck.all + StoreCheck.observing
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
