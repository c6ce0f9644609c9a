import PersistentPreferences
import Testing

private final class TwoExplicitKeys: PersistentPrefs, @unchecked Sendable {
    @Pref("shared") var one = 1
    @Pref("shared") var two = 2
}

private final class ExplicitAndOwnName: PersistentPrefs, @unchecked Sendable {
    @Pref var one = 1
    @Pref("one") var two = 2
}

private final class TwoKeysOfOne: PersistentPrefs, @unchecked Sendable {
    @Pref("a", .help("One."), .key("b")) var one = 1
}

private class Below: PersistentPrefs, @unchecked Sendable {
    @Pref var one = 1
}

private final class AboveAndBelow: Below, @unchecked Sendable {
    @Pref("one") var two = 2
}

private class PrivateBelow: PersistentPrefs, @unchecked Sendable {
    @Pref private var one = 1
}

private final class PrivateAboveAndBelow: PrivateBelow, @unchecked Sendable {
    @Pref private var one = 2
}

/// Classes with one name, as in two modules.
enum CollisionBelow {
    class SameName: PersistentPrefs, @unchecked Sendable {
        @Pref private var one = 1
    }
}

enum CollisionAbove {
    final class SameName: CollisionBelow.SameName, @unchecked Sendable {
        @Pref private var one = 2
    }
}

private final class FormerKeyOfAnother: PersistentPrefs, @unchecked Sendable {
    @Pref("one's key") var one = 1
    @Pref(.formerly("older", "one's key")) var two = 2
}

private final class FormerKeyOfItsOwn: PersistentPrefs, @unchecked Sendable {
    @Pref(.formerly("one")) var one = 1
}

private final class ReservedKey: PersistentPrefs, @unchecked Sendable {
    @Pref("PersistentPreferences version") var version = 1
}

private final class ReservedFormerKey: PersistentPrefs, @unchecked Sendable {
    @Pref(.formerly("PersistentPreferences version")) var version = 1
}

private final class OneForTwo: PersistentPrefs, @unchecked Sendable {
    @Pref var one: Int
    @Pref var two: Int

    override init(key: String?, values: [String: Any]?, store: any PrefsStore) {
        let pref = Pref(wrappedValue: 1)
        _one = pref
        _two = pref
        super.init(key: key, values: values, store: store)
    }
}

private final class DescendingMigrations: PersistentPrefs, @unchecked Sendable {
    override class var migrations: [PrefsMigration] {
        [PrefsMigration(to: 2) { _ in }, PrefsMigration(to: 2) { _ in }]
    }
}

private final class MigrationToNothing: PersistentPrefs, @unchecked Sendable {
    override class var migrations: [PrefsMigration] { [PrefsMigration(to: 0) { _ in }] }
}

/// Its mirror is empty.
private final class Hidden: PersistentPrefs, CustomReflectable, @unchecked Sendable {
    @Pref var one = 1

    var customMirror: Mirror { Mirror(self, children: []) }
}

private final class WrongDefault: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(8...72)) var size = 7
}

private class WrongTextBelow: PersistentPrefs, @unchecked Sendable {
    @Pref("Name", .constraint(.length(1...), .pattern("[a-z]+"))) var name = ""
}

private final class WrongTextAbove: WrongTextBelow, @unchecked Sendable {}

private final class WrongOptionalDefault: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(1...), .check { $0 == 5 ? "must not be 5" : nil }) var digit: Int? = 5
}

private final class Undescribed: PersistentPrefs, @unchecked Sendable {
    @Pref var one = 1
}

private final class EmptyKey: PersistentPrefs, @unchecked Sendable {
    @Pref("") var one = 1
}

private final class NULKey: PersistentPrefs, @unchecked Sendable {
    @Pref("a\u{0}b") var one = 1
}

private final class EmptyFormerKey: PersistentPrefs, @unchecked Sendable {
    @Pref(.formerly("")) var one = 1
}

private final class Misnamed: PersistentPrefs, @unchecked Sendable {
    override class var formerRootKeys: [String] { ["a\u{0}b"] }
}

private final class SelfNamed: PersistentPrefs, @unchecked Sendable {
    override class var formerRootKeys: [String] { ["SelfNamed"] }
}

/// Invalid declarations. Each stops its program, with a message that names the place.
@Suite struct KeyCollisionTests {
    /// What makes the first instance, by its message.
    private static let mistakes: KeyValuePairs<String, @Sendable (InMemoryStore) -> Any> = [
        #"TwoExplicitKeys: the properties "one" and "two" have one key, "shared"; give one a key of its own"#:
            { TwoExplicitKeys(store: $0) },
        #"ExplicitAndOwnName: the properties "one" and "two" have one key, "one"; give one a key of its own"#:
            { ExplicitAndOwnName(store: $0) },
        #"TwoKeysOfOne: the property "one" has two keys, "a" and "b""#: { TwoKeysOfOne(store: $0) },
        #"AboveAndBelow: the property "one" of Below and the property "two" of AboveAndBelow have one key, "one"; "#
            + "give one a key of its own": { AboveAndBelow(store: $0) },
        #"PrivateAboveAndBelow: the property "one" of PrivateBelow and the property "one" of PrivateAboveAndBelow "#
            + #"have one key, "one"; give one a key of its own"#: { PrivateAboveAndBelow(store: $0) },
        #"FormerKeyOfAnother: "one's key" is a former key of the property "two" and the key of the property "one""#:
            { FormerKeyOfAnother(store: $0) },
        #"FormerKeyOfItsOwn: "one" is a former key of the property "one" and the key of the property "one""#:
            { FormerKeyOfItsOwn(store: $0) },
        #"ReservedKey: the key of the property "version" is reserved"#: { ReservedKey(store: $0) },
        #"ReservedFormerKey: a former key of the property "version" is reserved"#: { ReservedFormerKey(store: $0) },
        #"OneForTwo: the properties "one" and "two" share one Pref; create one for each"#:
            { OneForTwo(key: nil, values: nil, store: $0) },
        "DescendingMigrations: a migration to version 2 follows version 2": { DescendingMigrations(store: $0) },
        "MigrationToNothing: a migration to version 0 follows version 0": { MigrationToNothing(store: $0) },
        "Hidden: a @Pref property has another key than in the first instance, or a custom mirror hides it":
            { Hidden(store: $0).one },
        "Undescribed.describe(): the properties are unknown; create an instance first": { _ in Undescribed.describe() },
        #"SameName: the property "one" of TypedTests.CollisionBelow.SameName and the property "one" of "#
            + #"TypedTests.CollisionAbove.SameName have one key, "one"; give one a key of its own"#:
            { CollisionAbove.SameName(store: $0) },
        #"WrongDefault: the default of the property "size" is 7, but must be in 8...72"#: { WrongDefault(store: $0) },
        #"WrongTextAbove: the default of the property "name" is "", but must be at least 1 character long and of "#
            + "the form [a-z]+": { WrongTextAbove(store: $0) },
        #"WrongOptionalDefault: the default of the property "digit" is 5, but must not be 5"#:
            { WrongOptionalDefault(store: $0) },
        #"EmptyKey: a key of the property "one" is invalid: it is empty"#: { EmptyKey(store: $0) },
        #"NULKey: a key of the property "one" is invalid: it contains a NUL"#: { NULKey(store: $0) },
        #"EmptyFormerKey: a former key of the property "one" is invalid: it is empty"#: { EmptyFormerKey(store: $0) },
        // The system ends the message at the NUL.
        #"Misnamed: "a"#: { Misnamed(store: $0) },
        "SelfNamed: formerRootKeys contains the current root key": { SelfNamed(store: $0) },
        #"PrefConstraint.pattern: "[a-" is not a regular expression: "#: { _ in PrefConstraint.pattern("[a-") },
    ]

    @Test(arguments: mistakes.map(\.key))
    func stopsWithAMessage(_ message: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [message] in
            _ = Self.mistakes.first { $0.key == message }?.value(InMemoryStore())
        }
        let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(errors.contains(message), "\(errors)")
    }
}
