@testable import PrefsSupport
import PersistentPreferences
import Testing
import WriteOperations

@testable import EngineSupport
import PrefsKeys
import PrefsStoreKit

/// Two versions of a program. Each has fields that the other does not know; the rest of the stored form is equal.
private enum Old {
    struct Font: Codable, Equatable { var name = "Menlo" }
    struct Style: Codable, Equatable {
        var font = Font()
        var weight = 400
    }
    final class Program: PersistentPrefs, @unchecked Sendable {
        @Pref var style = Style()
        @Pref var optional: Style? = nil
        @Pref var list: [Style] = []
        @Pref var named: [String: Style] = [:]
    }
}

private enum New {
    struct Font: Codable, Equatable {
        var name = "Menlo"
        var size = 12.0
    }
    struct Style: Codable, Equatable {
        var font = Font()
        var weight = 400
        var isItalic = false
        var tags: [String] = ["new"]
    }
    final class Program: PersistentPrefs, @unchecked Sendable {
        @Pref var style = Style(font: Font(size: 14))
        @Pref var optional: Style? = Style(weight: 1)
        @Pref var list: [Style] = []
        @Pref var named: [String: Style] = [:]
    }
}

// The sample of the article "Changing declarations", verbatim; `DocumentationTests` compares them.

nonisolated struct Server: Codable, Equatable {
    var host = ""
    var port = 443  // new in version 2
}

nonisolated extension Server {
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        host = try fields.decode(String.self, forKey: .host)
        port = try fields.decodeIfPresent(Int.self, forKey: .port) ?? 443
    }
}

final class ServerPrefs: Prefs, @unchecked Sendable {
    @Pref var servers: [Server] = []
}

/// A Codable struct may gain fields, and programs of both versions may run at once.
@Suite(.limited) struct EvolvingStructTests {
    private let store = PrefsStore.memory()
    private var old: Old.Program { Old.Program(key: "Root", store: store) }
    private var new: New.Program { New.Program(key: "Root", store: store) }

    private func stored(_ key: String) throws -> Any? { try store.read(root: "Root")?[key] }

    private func storedFields() throws -> [String]? { (try stored("style") as? [String: Any])?.keys.sorted() }

    @Test func aFieldThatIsMissingReadsAsInTheDefault() throws {
        old.style = Old.Style(font: Old.Font(name: "Courier"), weight: 700)
        old.optional = Old.Style(weight: 2)
        let prefs = new
        let expected = New.Style(font: New.Font(name: "Courier", size: 14), weight: 700)
        #expect(prefs.style == expected && prefs.lastError == nil)
        #expect(prefs.optional == New.Style(weight: 2) && prefs.lastError == nil)
        #expect(prefs.$style.isStored && !prefs.$style.isDefault)
        #expect(try storedFields() == ["font", "weight"], "a read writes nothing")
    }

    @Test func aValueWithoutTheFieldCanBeChangedInPlace() throws {
        old.style.weight = 700
        let prefs = new
        prefs.style.isItalic = true
        #expect(prefs.lastError == nil)
        #expect(prefs.style == New.Style(font: New.Font(size: 14), weight: 700, isItalic: true))
        #expect(old.style == Old.Style(weight: 700))
    }

    @Test func observersReadTheFieldToo() async {
        let prefs = new
        var styles = prefs.$style.updates.makeAsyncIterator()
        _ = await styles.next()
        old.style.weight = 700
        #expect(await styles.next() == New.Style(font: New.Font(size: 14), weight: 700))
        #expect(prefs.lastError == nil)
    }

    @Test func anElementWithoutTheFieldIsOfAnotherType() {
        old.list = [Old.Style()]
        let prefs = new
        #expect(prefs.list == [])
        #expect(prefs.lastError?.description == "list[0].font: the key \"size\" is missing")
    }

    private struct Gained: Codable, Equatable {
        var weight = 400
        var hint: String? = nil
    }

    private struct Required: Codable, Equatable {
        var weight = 400
        var height = 10
    }

    private final class Limits: PersistentPrefs, @unchecked Sendable {
        @Pref var style = Gained(hint: "default")
        @Pref var optional: Required? = nil
    }

    @Test func aNewOptionalFieldReadsAsNilAndADefaultOfNilHasNoFieldToRead() {
        old.style.weight = 700
        old.optional = Old.Style(weight: 2)
        let prefs = Limits(key: "Root", store: store)
        #expect(prefs.style == Gained(weight: 700) && prefs.lastError == nil)
        #expect(prefs.optional == nil)
        #expect(prefs.lastError?.description == "optional: the key \"height\" is missing")
    }

    @Test func aFieldOfAnotherTypeIsNotFilled() throws {
        try store.update(root: "Root") { $0 = ["style": ["weight": "heavy"]] }
        let prefs = new
        #expect(prefs.style == New.Style(font: New.Font(size: 14)))
        #expect(prefs.lastError?.description == "style.weight: expected Int, found a string")
        prefs.style.isItalic = true
        #expect(prefs.lastError != nil, "it would replace the value by the default")
        #expect((try stored("style") as? [String: Any])?["weight"] as? String == "heavy")
        // Nor is a dictionary without any known field.
        try store.update(root: "Root") { $0 = ["style": ["colour": 1]] }
        #expect(prefs.style == New.Style(font: New.Font(size: 14)))
        #expect(prefs.lastError?.description == "style: the key \"font\" is missing")
        prefs["style"] = ["other": 1]
        #expect(prefs.lastError == nil, "any value may replace one that cannot be read")
        #expect(prefs.style == New.Style(font: New.Font(size: 14)))
        #expect(prefs.lastError?.description == "style: the key \"font\" is missing")
    }

    // MARK: - The older version writes

    /// Those that write a typed value.
    private static let typedOperations =
        WriteOperation.of(.property).filter { $0.effect == .puts } + WriteOperation.allCases.filter(\.isOfAccesses)

    @Test(arguments: typedOperations)
    func anOlderWriterKeepsTheFieldsOfANewerOne(_ operation: WriteOperation) async {
        let newer = New.Style(font: New.Font(name: "Courier", size: 20), weight: 500, isItalic: true, tags: ["a"])
        new.style = newer
        new.optional = newer
        new.named = ["a": newer, "b": newer]
        let prefs = old
        let style = Old.Style(font: Old.Font(name: "Times"), weight: 1)
        @Sendable func change(_ style: inout Old.Style?) {
            style?.weight = 1
            style?.font.name = "Times"
        }
        for target in [
            WriteTarget(prefs, \.style, \.$style, to: style, change: { ($0.weight, $0.font.name) = (1, "Times") }),
            WriteTarget(prefs, \.optional, \.$optional, to: style, change: change),
            WriteTarget(prefs, \.named, \.$named, change: { change(&$0["a"]) }),
        ] {
            #expect(await target.perform(operation) == nil)
        }
        #expect(prefs.lastError == nil)
        let expected = New.Style(font: New.Font(name: "Times", size: 20), weight: 1, isItalic: true, tags: ["a"])
        #expect(new.style == expected && new.optional == expected && new.named == ["a": expected, "b": newer])
    }

    private final class OldSets: PersistentPrefs, @unchecked Sendable { @Pref var names: Set<Person> = [] }
    private struct Person: Codable, Hashable { var name: String }

    @Test func noElementOfASetGetsTheFieldsOfAnother() throws {
        try store.update(root: "Root") {
            $0 = ["names": [["name": "alice", "secret": "a"], ["name": "carol", "secret": "c"]]]
        }
        let prefs = OldSets(key: "Root", store: store)
        prefs.names = [Person(name: "bob"), Person(name: "carol")]
        let stored = try #require(try stored("names") as? [[String: String]])
        #expect(
            stored.count == 2 && stored.contains(["name": "bob"]) && stored.contains(["name": "carol", "secret": "c"]))
    }

    // MARK: - Keys

    private struct OldKey: PrefKey {
        static let stringKey = "style"
        static let defaultValue = Old.Style()
    }

    private struct NewKey: PrefKey {
        static let stringKey = "style"
        static let defaultValue = New.Style(font: New.Font(size: 14))
    }

    @Test func keysDoTheSame() throws {
        let entries = AppSettingsValues(store: store, root: "Root")
        entries[OldKey.self].weight = 700
        #expect(entries[NewKey.self] == New.Style(font: New.Font(size: 14), weight: 700))
        entries[NewKey.self].isItalic = true
        entries[OldKey.self] = Old.Style(weight: 5)
        #expect(entries[NewKey.self] == New.Style(font: New.Font(size: 14), weight: 5, isItalic: true))
    }

    // MARK: - Removal

    @Test func aValueThatIsRemovedTakesItsFieldsAlong() throws {
        new.style = New.Style(isItalic: true)
        new.optional = New.Style(isItalic: true)
        let prefs = old
        prefs.$style.reset()
        prefs.optional = nil
        #expect(try stored("style") == nil && stored("optional") == nil)
        prefs.style = Old.Style()
        #expect(try storedFields() == ["font", "weight"])
    }

    @Test func anEqualWriteOfAnOlderVersionStoresNothing() async throws {
        new.style = New.Style(isItalic: true)
        let prefs = old
        var changes = prefs.changes(of: "style").makeAsyncIterator()
        prefs.style = Old.Style()
        prefs.style.weight = 7
        #expect(await changes.next()?.newValues["style"] as? [String: Any] != nil)
        #expect(prefs.style.weight == 7 && new.style.isItalic)
    }

    @Test func aWholeValueThroughAnUntypedWriteIsTakenAsItIsAndMayOmitAField() throws {
        let prefs = new
        prefs["style"] = ["weight": 5]
        #expect(prefs.lastError == nil && prefs.style.weight == 5)
        prefs.style = New.Style(isItalic: true)
        old["style"] = ["font": ["name": "A"], "weight": 1] as [String: Any]
        #expect(try storedFields() == ["font", "weight"])
    }

    /// A list after one write: the elements by name and weight, and the field that each must have.
    struct Rearranged: Sendable {
        let list: [(name: String, weight: Int)]
        let theirs: [String?]
    }

    static let rearranged = [
        // In the opposite order, without the first, and with a change in place.
        Rearranged(list: [("c", 3), ("b", 2), ("a", 1)], theirs: ["C", nil, "A"]),
        Rearranged(list: [("b", 2), ("c", 3)], theirs: [nil, "C"]),
        Rearranged(list: [("a", 9), ("b", 2), ("c", 3)], theirs: ["A", nil, "C"]),
        // An element is edited, and moves to the place of one that has the field.
        Rearranged(list: [("b", 9), ("a", 1), ("c", 3)], theirs: [nil, "A", "C"]),
        // Two elements change places, and the third is edited: it keeps its place and its field.
        Rearranged(list: [("b", 2), ("a", 1), ("c", 9)], theirs: [nil, "A", "C"]),
        // The first is edited in its place, and the others change places.
        Rearranged(list: [("a", 9), ("c", 3), ("b", 2)], theirs: ["A", "C", nil]),
        // All move by one, and the one that goes to the end is edited: it has lost its place.
        Rearranged(list: [("b", 2), ("c", 3), ("a", 9)], theirs: [nil, "C", nil]),
    ]

    /// The unknown field of an element is never given to another one, whatever one write does to the list.
    @Test(arguments: rearranged) func anUnknownFieldStaysWithItsElement(_ after: Rearranged) throws {
        func members(_ name: String, _ weight: Int, _ theirs: String?) -> [String: Any] {
            var members: [String: Any] = ["font": ["name": name], "weight": weight]
            members["theirs"] = theirs
            return members
        }
        let before = [members("a", 1, "A"), members("b", 2, nil), members("c", 3, "C")]
        try store.update(root: "Root") { $0 = ["list": before] }
        old.list = after.list.map { Old.Style(font: Old.Font(name: $0.name), weight: $0.weight) }
        let elements = try #require(stored("list") as? [[String: Any]])
        let names = elements.map { ($0["font"] as? [String: Any])?["name"] as? String }
        #expect(names == after.list.map(\.name))
        #expect(elements.map { $0["theirs"] as? String } == after.theirs)
    }

    // MARK: - Elements of lists

    /// An element has no default of the property.
    @Test func anElementThatLacksAFieldNeedsAnInitializer() throws {
        struct Plain: Codable, Equatable {
            var host = ""
            var port = 443
        }
        final class PlainPrefs: PersistentPrefs, @unchecked Sendable {
            @Pref var servers: [Plain] = []
        }
        try store.update(root: "Root") { $0 = ["servers": [["host": "a"], ["host": "b", "port": 80]]] }
        let plain = PlainPrefs(key: "Root", store: store)
        #expect(plain.servers == [] && "\(plain.lastError as Any)".contains("servers[0]: the key \"port\" is missing"))

        let prefs = ServerPrefs(key: "Root", store: store)
        #expect(prefs.servers == [Server(host: "a"), Server(host: "b", port: 80)] && prefs.lastError == nil)
        #expect(try (stored("servers") as? [[String: Any]])?.map(\.count) == [1, 2], "a read writes nothing")
        prefs.servers[0].host = "c"
        #expect(prefs.lastError == nil)
        #expect(plain.servers == [Plain(host: "c"), Plain(host: "b", port: 80)] && plain.lastError == nil)
    }

    @Test func aFieldThatTheInitializerRequiresIsStillRequired() throws {
        try store.update(root: "Root") { $0 = ["servers": [["port": 80]]] }
        let prefs = ServerPrefs(key: "Root", store: store)
        #expect(prefs.servers == [] && "\(prefs.lastError as Any)".contains("servers[0]: the key \"host\" is missing"))
    }
}
