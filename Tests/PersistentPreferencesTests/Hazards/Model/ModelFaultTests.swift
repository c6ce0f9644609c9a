import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsFileEngine

/// The model detects faults of stores and file systems, and shortens the sequences that show them.
@Suite struct ModelFaultTests {
    /// A fault, and the most operations in a shortened sequence that shows it.
    enum Fault: CaseIterable {
        case losesTheThirdEmptyArray, losesTheFourthRename, forgetsDamagedBytes

        var most: Int { self == .forgetsDamagedBytes ? 3 : 6 }

        /// The store with the fault, and another store.
        var stores: [ModelStore] {
            (self == .losesTheThirdEmptyArray ? [.foreign, .foreign, .foreign] : [.binary, .link, .hasty]) + [.memory]
        }

        var faults: ModelSubject.Faults {
            switch self {
            case .losesTheThirdEmptyArray:
                ModelSubject.Faults(wrap: { kind, store in kind == .foreign ? FaultyStore(store) : store })
            case .losesTheFourthRename:
                ModelSubject.Faults(system: { LossySystem(isClockAhead: $0, losesRename: 4) })
            case .forgetsDamagedBytes:
                ModelSubject.Faults(system: { LossySystem(isClockAhead: $0, losesLinks: true) })
            }
        }
    }

    @Test(arguments: Hazard.each(2, of: Fault.allCases))
    func isFoundAndMadeShort(_ fault: Fault) throws {
        for seed in 1...UInt64(20) {
            let (world, moves) = ModelGenerator.make(seed: seed, count: 200, stores: fault.stores)
            do {
                try ModelRun.run(moves, in: world, fault.faults)
            } catch let difference as ModelRun.Difference {
                let short = ModelFailure.shrink(moves, from: difference, in: world, fault.faults)
                let text = short.moves.map { "  \($0)" }.joined(separator: "\n")
                #expect(short.moves.count <= fault.most, "\(text)")
                // The shortened sequence still shows the difference.
                #expect(throws: ModelRun.Difference.self) { try ModelRun.run(short.moves, in: world, fault.faults) }
                try ModelRun.run(short.moves, in: world)
                return
            }
        }
        Issue.record("20 sequences did not show it")
    }
}

/// A store of another module over a good store, which loses an array.
private final class FaultyStore: PrefsStore, @unchecked Sendable {
    private let store: any PrefsStore
    private var emptyArrays = 0

    init(_ store: any PrefsStore) {
        self.store = store
    }

    func read(root: String) throws -> [String: Any]? {
        try store.read(root: root)
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.update(root: root) { values in
            let before = values
            try body(&values)
            for (key, value) in values ?? [:] where (value as? [Any])?.isEmpty == true {
                if (before?[key] as? [Any])?.isEmpty == true { continue }
                emptyArrays += 1
                if emptyArrays == 3 { values?[key] = before?[key] }
            }
        }
    }
}

/// A file system that loses something.
private final class LossySystem: ModelSubject.System, @unchecked Sendable {
    private let losesRename: Int
    private let losesLinks: Bool
    private var renames = 0

    init(isClockAhead: Bool, losesRename: Int = 0, losesLinks: Bool = false) {
        self.losesRename = losesRename
        self.losesLinks = losesLinks
        super.init(isClockAhead: isClockAhead)
    }

    override func rename(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        if !newName.hasSuffix("lastgood") { renames += 1 }
        if renames == losesRename, !newName.hasSuffix("lastgood") {
            try remove(name, in: folder)
        } else {
            try super.rename(name, to: newName, in: folder)
        }
    }

    override func link(_ name: String, to newName: String, in folder: Descriptor) throws(StorageFailure) {
        if !losesLinks { try super.link(name, to: newName, in: folder) }
    }
}
