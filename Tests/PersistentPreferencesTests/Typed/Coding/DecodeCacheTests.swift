@testable import PrefsSupport
import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsPropertyLists

/// How often `init(from:)` has run: each test has counters of its own, by name.
private final class Counter: @unchecked Sendable {
    @TaskLocal static var current = Counter()

    private let lock = NSLock()
    private var amount = 0

    var count: Int { lock.withLock { amount } }

    func add() { lock.withLock { amount += 1 } }
}

private struct Counted: Codable, Equatable {
    var number: Int

    init(_ number: Int) { self.number = number }

    init(from decoder: any Decoder) throws {
        Counter.current.add()
        number = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .number)
    }
}

private final class Node: Codable {
    var name: String

    init(_ name: String) { self.name = name }
}

private struct Holder: Codable { var node: Node }
private enum Either: Codable {
    case none
    case node(Node)

    var node: Node? { if case .node(let node) = self { node } else { nil } }
}
private struct Boxed: RawRepresentable {
    let rawValue: [String]
}
private struct BoxOfObject: RawRepresentable {
    let node: Node
    init(rawValue: String) { node = Node(rawValue) }
    var rawValue: String { node.name }
}
private final class BoxedObject: RawRepresentable {
    let rawValue: [String]
    init(rawValue: [String]) { self.rawValue = rawValue }
}

private final class ReusePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var single: Counted? = nil
    @Pref var list: [Counted] = []
    @Pref var other = 0
    @Pref var object: Node? = nil
    @Pref var objects: [String: [Node]] = [:]
    @Pref var holder: Holder? = nil
    @Pref var either = Either.none
    @Pref var holders: [Holder?] = []
    @Pref var boxed: BoxedObject? = nil
    @Pref var box = BoxOfObject(rawValue: "")
    @Pref(
        coding: PrefCoding<[Node]?>(
            encode: { $0?.map(\.name) }, decode: { ($0 as? [String])?.map(Node.init) }))
    var custom: [Node]? = nil
}

/// An unchanged value is decoded once, and no two readers share an object.
@Suite struct DecodeCacheTests {
    @Test(arguments: StoreKind.allCases)
    func anUnchangedValueIsDecodedOnce(on kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = kind.make(in: folder)
        let prefs = ReusePrefs(store: store)
        prefs.single = Counted(1)
        prefs.list = [Counted(1), Counted(2)]
        let counter = Counter()
        Counter.$current.withValue(counter) {
            for _ in 0..<5 { #expect(prefs.single == Counted(1) && prefs.list.count == 2) }
            #expect(counter.count == 3)
            prefs.other += 1
            prefs["other"] = 7
            #expect(prefs.single == Counted(1) && prefs.list.count == 2 && counter.count == 3)
            prefs.flush()
            #expect(prefs.single == Counted(1) && prefs.list.count == 2 && counter.count == 3)
            // A write decodes the stored value once, to find the fields that the type does not know.
            prefs.single = Counted(1)
            #expect(prefs.single == Counted(1) && counter.count == 4)
            prefs.single = Counted(9)
            #expect(prefs.single == Counted(9) && prefs.list.count == 2 && counter.count == 6)
            prefs.list[1].number = 5
            #expect(prefs.list == [Counted(1), Counted(5)] && counter.count == 10)
        }
        #expect(prefs.outcome == "ok")
    }

    /// As another process does it: the bytes are others, the value is the same.
    @Test func aReplacedFileIsNoReasonToDecode() throws {
        let folder = try TemporaryFolder()
        let prefs = ReusePrefs(store: PropertyListFileStore(url: folder.file(), durability: .process))
        prefs.single = Counted(1)
        let counter = Counter()
        try Counter.$current.withValue(counter) {
            #expect(prefs.single == Counted(1))
            var list = try propertyList(at: folder.file())
            var root = try #require(list["ReusePrefs"] as? [String: Any])
            for round in 0..<3 {
                root["other"] = round
                root["nobody's"] = String(repeating: "x", count: round * 100)
                list["ReusePrefs"] = root
                try FileManager.default.removeItem(at: folder.file())
                try writePropertyList(list, to: folder.file(), as: round == 1 ? .xml : .binary)
                #expect(prefs.other == round && prefs.single == Counted(1))
            }
            #expect(counter.count == 1)
            root["single"] = ["number": 2]
            list["ReusePrefs"] = root
            try FileManager.default.removeItem(at: folder.file())
            try writePropertyList(list, to: folder.file())
            #expect(prefs.single == Counted(2) && counter.count == 2)
        }
    }

    @Test func aValueThatCannotBeReadIsNotKept() throws {
        let store = InMemoryStore()
        let prefs = ReusePrefs(store: store)
        prefs.single = Counted(1)
        #expect(prefs.single == Counted(1))
        try store.update(root: "ReusePrefs") { $0?["single"] = ["number": "x"] }
        for _ in 0..<2 {
            #expect(prefs.single == nil)
            #expect(prefs.outcome == "single.number: expected Int, found a string; the default is read")
        }
        prefs["single"] = ["number": 1]
        #expect(prefs.single == Counted(1) && prefs.outcome == "ok")
    }

    @Test func objectsAreNotShared() throws {
        let prefs = ReusePrefs(store: InMemoryStore())
        prefs.update {
            prefs.object = Node("a")
            prefs.objects = ["k": [Node("a")]]
            prefs.holder = Holder(node: Node("a"))
            prefs.holders = [nil, Holder(node: Node("a"))]
            prefs.either = .node(Node("a"))
            prefs.boxed = BoxedObject(rawValue: ["a"])
            prefs.box = BoxOfObject(rawValue: "a")
            prefs.custom = [Node("a")]
        }
        #expect(prefs.outcome == "ok")
        for (number, path) in Self.nodes.enumerated() {
            let first = try #require(path(prefs), "\(number)")
            let second = try #require(path(prefs), "\(number)")
            #expect(first !== second, "\(number)")
            first.name = "changed"
            #expect(path(prefs)?.name == "a", "\(number)")
        }
        let boxed = try #require(prefs.boxed)
        #expect(prefs.boxed !== boxed)
    }

    private static let nodes: [@Sendable (ReusePrefs) -> Node?] = [
        { $0.object }, { $0.objects["k"]?[0] }, { $0.holder?.node }, { $0.holders[1]?.node }, { $0.either.node },
        { $0.custom?[0] }, { $0.box.node },
    ]

    /// A value without an object was kept; the next one has an object.
    @Test func anObjectMayComeLater() throws {
        let prefs = ReusePrefs(store: InMemoryStore())
        prefs["either"] = ["none": [String: Any]()]
        #expect(prefs.either.node.map(\.name) == nil && prefs.outcome == "ok")
        prefs.either = .node(Node("a"))
        let first = try #require(prefs.either.node)
        let second = try #require(prefs.either.node)
        #expect(first !== second)
    }
}
