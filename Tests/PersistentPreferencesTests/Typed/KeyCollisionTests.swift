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

/// Invalid declarations. Each stops its program, with a message that names the place.
@Suite struct KeyCollisionTests {
    enum Mistake: String, CaseIterable, Codable {
        case twoExplicitKeys, explicitAndOwnName, twoKeysOfOne, aboveAndBelow, privateAboveAndBelow
        case formerKeyOfAnother, formerKeyOfItsOwn, reservedKey, reservedFormerKey, oneForTwo
        case descendingMigrations, migrationToNothing, hidden, undescribed
        case sameName, wrongDefault, wrongTextDefault, wrongOptionalDefault

        func make() {
            let store = InMemoryStore()
            switch self {
            case .twoExplicitKeys: _ = TwoExplicitKeys(store: store)
            case .explicitAndOwnName: _ = ExplicitAndOwnName(store: store)
            case .twoKeysOfOne: _ = TwoKeysOfOne(store: store)
            case .aboveAndBelow: _ = AboveAndBelow(store: store)
            case .privateAboveAndBelow: _ = PrivateAboveAndBelow(store: store)
            case .formerKeyOfAnother: _ = FormerKeyOfAnother(store: store)
            case .formerKeyOfItsOwn: _ = FormerKeyOfItsOwn(store: store)
            case .reservedKey: _ = ReservedKey(store: store)
            case .reservedFormerKey: _ = ReservedFormerKey(store: store)
            case .oneForTwo: _ = OneForTwo(key: nil, values: nil, store: store)
            case .descendingMigrations: _ = DescendingMigrations(store: store)
            case .migrationToNothing: _ = MigrationToNothing(store: store)
            case .hidden: _ = Hidden(store: store).one
            case .undescribed: _ = Undescribed.describe()
            case .sameName: _ = CollisionAbove.SameName(store: store)
            case .wrongDefault: _ = WrongDefault(store: store)
            case .wrongTextDefault: _ = WrongTextAbove(store: store)
            case .wrongOptionalDefault: _ = WrongOptionalDefault(store: store)
            }
        }

        var message: String {
            switch self {
            case .twoExplicitKeys:
                "TwoExplicitKeys: the properties \"one\" and \"two\" have one key, \"shared\"; "
                    + "give one a key of its own"
            case .explicitAndOwnName:
                "ExplicitAndOwnName: the properties \"one\" and \"two\" have one key, \"one\"; give one a key of its own"
            case .twoKeysOfOne: "TwoKeysOfOne: the property \"one\" has two keys, \"a\" and \"b\""
            case .aboveAndBelow:
                "AboveAndBelow: the property \"one\" of Below and the property \"two\" of AboveAndBelow have one key, "
                    + "\"one\"; give one a key of its own"
            case .privateAboveAndBelow:
                "PrivateAboveAndBelow: the property \"one\" of PrivateBelow and the property \"one\" of "
                    + "PrivateAboveAndBelow have one key, \"one\"; give one a key of its own"
            case .formerKeyOfAnother:
                "FormerKeyOfAnother: \"one's key\" is a former key of the property \"two\" "
                    + "and the key of the property \"one\""
            case .formerKeyOfItsOwn:
                "FormerKeyOfItsOwn: \"one\" is a former key of the property \"one\" and the key of the property \"one\""
            case .reservedKey: "ReservedKey: the key of the property \"version\" is reserved"
            case .reservedFormerKey: "ReservedFormerKey: a former key of the property \"version\" is reserved"
            case .oneForTwo: "OneForTwo: the properties \"one\" and \"two\" share one Pref; create one for each"
            case .descendingMigrations: "DescendingMigrations: a migration to version 2 follows version 2"
            case .migrationToNothing: "MigrationToNothing: a migration to version 0 follows version 0"
            case .hidden:
                "Hidden: a @Pref property has another key than in the first instance, or a custom mirror hides it"
            case .sameName:
                "SameName: the property \"one\" of TypedTests.CollisionBelow.SameName and the property "
                    + "\"one\" of TypedTests.CollisionAbove.SameName have one key, \"one\"; give one a key "
                    + "of its own"
            case .wrongDefault: "WrongDefault: the default of the property \"size\" is 7, but must be in 8...72"
            case .wrongTextDefault:
                "WrongTextAbove: the default of the property \"name\" is \"\", but must be at least 1 character long and of "
                    + "the form [a-z]+"
            case .wrongOptionalDefault:
                "WrongOptionalDefault: the default of the property \"digit\" is 5, but must not be 5"
            case .undescribed: "Undescribed.describe(): the properties are unknown; create an instance first"
            }
        }
    }

    @Test(arguments: Mistake.allCases)
    func stopsWithAMessage(_ mistake: Mistake) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [mistake] in
            mistake.make()
        }
        let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(errors.contains(mistake.message), "\(errors)")
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

    @Test func aKeyThatIsNoneStopsTheProgram() async {
        await #expect(processExitsWith: .failure) { _ = EmptyKey(store: InMemoryStore()) }
        await #expect(processExitsWith: .failure) { _ = NULKey(store: InMemoryStore()) }
        await #expect(processExitsWith: .failure) { _ = EmptyFormerKey(store: InMemoryStore()) }
    }
}
