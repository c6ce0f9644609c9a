import PrefsLayers
import Testing

@testable import PersistentPreferences

/// Two properties that a row of the table declares.
private final class Mistaken: PersistentPrefs, @unchecked Sendable {
    @Pref var one: Int
    @Pref var two: Int

    init(
        _ store: PrefsStore, _ one: [PrefOption<Int>] = [], _ two: [PrefOption<Int>] = [], default: Int = 1,
        isShared: Bool = false
    ) {
        _one = Pref(`default`, one)
        _two = isShared ? _one : Pref(2, two)
        super.init(key: nil, values: nil, store: store)
    }
}

private class Below: PersistentPrefs, @unchecked Sendable {
    @Pref var one = 1
}

private final class AboveAndBelow: Below, @unchecked Sendable {
    @Pref("one") var two = 2
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

private class WrongTextBelow: PersistentPrefs, @unchecked Sendable {
    @Pref("Name", .length(1...), .pattern("[a-z]+")) var name = ""
}

private final class WrongTextAbove: WrongTextBelow, @unchecked Sendable {}

private final class WrongOptionalDefault: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(1...), .check { $0 == 5 ? "must not be 5" : nil }) var digit: Int? = 5
}

private final class Undescribed: PersistentPrefs, @unchecked Sendable {
    @Pref var one = 1
}

private final class Misnamed: PersistentPrefs, @unchecked Sendable {
    override class var formerRootKeys: [String] { ["a\u{0}b"] }
}

private final class Unmigrated: PersistentPrefs, @unchecked Sendable {
    override class var unmarkedVersion: Int { 3 }
    override class var migrations: [PrefsMigration] { [PrefsMigration(to: 4) { _ in }] }
}

private final class SelfNamed: PersistentPrefs, @unchecked Sendable {
    override class var formerRootKeys: [String] { ["SelfNamed"] }
}

/// Invalid declarations. Each stops its program, with a message that names the place.
@Suite struct KeyCollisionTests {
    /// What makes the first instance, by its message.
    private static let mistakes: KeyValuePairs<String, @Sendable (PrefsStore) -> Any> = [
        #"Mistaken: the properties "one" and "two" have one key, "shared"; give one a key of its own"#:
            { Mistaken($0, ["shared"], ["shared"]) },
        #"Mistaken: the properties "one" and "two" have one key, "one"; give one a key of its own"#:
            { Mistaken($0, [], ["one"]) },
        #"Mistaken: the property "one" has two keys, "a" and "b""#:
            { Mistaken($0, ["a", .help("One."), .key("b")]) },
        #"AboveAndBelow: the property "one" of Below and the property "two" of AboveAndBelow have one key, "one"; "#
            + "give one a key of its own": { AboveAndBelow(store: $0) },
        #"Mistaken: "one's key" is a former key of the property "two" and the key of the property "one""#:
            { Mistaken($0, ["one's key"], [.formerly("older", "one's key")]) },
        #"Mistaken: "one" is a former key of the property "one" and the key of the property "one""#:
            { Mistaken($0, [.formerly("one")]) },
        #"Mistaken: the key of the property "one" is reserved"#:
            { Mistaken($0, ["PersistentPreferences version"]) },
        #"Mistaken: a former key of the property "one" is reserved"#:
            { Mistaken($0, [.formerly("PersistentPreferences version")]) },
        #"Mistaken: the properties "one" and "two" share one Pref; create one for each"#:
            { Mistaken($0, isShared: true) },
        "DescendingMigrations: a migration to version 2 follows version 2": { DescendingMigrations(store: $0) },
        "MigrationToNothing: a migration to version 0 follows version 0": { MigrationToNothing(store: $0) },
        "Unmigrated: no migration leads to version 3, the version of unmarked roots": { Unmigrated(store: $0) },
        "Hidden: a @Pref property has another key than in the first instance, or a custom mirror hides it":
            { Hidden(store: $0).one },
        "Undescribed.describe(): the properties are unknown; create an instance first": { _ in Undescribed.describe() },
        #"SameName: the property "one" of TypedTests.CollisionBelow.SameName and the property "one" of "#
            + #"TypedTests.CollisionAbove.SameName have one key, "one"; give one a key of its own"#:
            { CollisionAbove.SameName(store: $0) },
        #"Mistaken: the default of the property "one" is 7, but must be in 8...72"#:
            { Mistaken($0, [.in(8...72)], default: 7) },
        #"WrongTextAbove: the default of the property "name" is "", but must be at least 1 character long and of "#
            + "the form [a-z]+": { WrongTextAbove(store: $0) },
        #"WrongOptionalDefault: the default of the property "digit" is 5, but must not be 5"#:
            { WrongOptionalDefault(store: $0) },
        #"Mistaken: a key of the property "one" is invalid: it is empty"#: { Mistaken($0, [""]) },
        #"Mistaken: a key of the property "one" is invalid: it contains a NUL"#:
            { Mistaken($0, ["a\u{0}b"]) },
        #"Mistaken: a former key of the property "one" is invalid: it is empty"#:
            { Mistaken($0, [.formerly("")]) },
        // The system ends the message at the NUL.
        #"Misnamed: "a"#: { Misnamed(store: $0) },
        "SelfNamed: formerRootKeys contains the current root key": { SelfNamed(store: $0) },
        #"PrefOption.pattern: "[a-" is not a regular expression: "#: { _ in PrefOption<String>.pattern("[a-") },
    ]

    @Test(arguments: mistakes.map(\.key))
    func stopsWithAMessage(_ message: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [message] in
            _ = Self.mistakes.first { $0.key == message }?.value(PrefsStore.memory())
        }
        let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(errors.contains(message), "\(errors)")
    }
}
