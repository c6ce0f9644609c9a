@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import Testing

/// Two classes with one name, as in two modules.
private enum First {
    final class Settings: PersistentPrefs, @unchecked Sendable {
        @Pref var size = 12
        @Pref var name = "none"
    }
}

private enum Second {
    final class Settings: RecordingPrefs, @unchecked Sendable {
        @Pref var size = "large"
    }
}

private final class OneWay: PersistentPrefs, @unchecked Sendable { @Pref var width = 1 }
private final class OtherWay: PersistentPrefs, @unchecked Sendable { @Pref var width = 1.5 }
private final class SameWay: PersistentPrefs, @unchecked Sendable { @Pref var width = 7 }

@Suite struct SharedRootTests {
    @Test func theFirstInstanceOfTheSecondClassReportsIt() throws {
        let store = PrefsStore.memory()
        let first = First.Settings(store: store)
        let second = Second.Settings(store: store)
        let shared = try #require(second.lastError?.detail(of: PrefsError.problem), "\(second.outcome)")
        let names = [First.Settings.self, Second.Settings.self].map { String(reflecting: $0) }
        #expect(
            shared.reason
                == "\(names[0]) and \(names[1]) share the root \"Settings\", and declare \"size\" with different types; "
                + "give one of them a root key of its own")
        #expect(second.lastError?.isWarning == true && first.lastError == nil)
        #expect(second.errors.count == 1)
        second.size = "small"
        #expect(second.lastError == nil && second.size == "small", "it is a warning")
        let third = Second.Settings(store: store)
        #expect(third.lastError == nil, "reported once")
        // It stands, so the list of each instance has it, and a closure that begins.
        let told = Locked<[PrefsError]>([])
        let token = third.onError { error in told.withLock { $0.append(error) } }
        defer { token.cancel() }
        #expect(told.withLock(\.self).compactMap { $0.detail(of: PrefsError.problem) } == [shared])
        for prefs in [first, second, third] as [PersistentPrefs] {
            let problems = prefs.problems()
            #expect(
                problems.compactMap { $0.error.detail(of: PrefsError.problem) } == [shared], "\(problems)")
        }
        #expect(First.Settings(store: .memory()).problems().isEmpty, "another store")
    }

    private final class Early: PersistentPrefs, @unchecked Sendable { @Pref var width = 1 }
    private final class Late: PersistentPrefs, @unchecked Sendable { @Pref var width = "1" }

    @Test func theFirstInstanceWithoutAKeyIsCheckedToo() throws {
        let store = PrefsStore.memory()
        #expect(Late(key: "Other", store: store).lastError == nil)
        #expect(Early(key: "Late", store: store).lastError == nil)
        let shared = try #require(Late(store: store).lastError?.detail(of: PrefsError.problem))
        #expect(shared.reason.contains("share the root \"Late\", and declare \"width\" with different types;"))
        #expect(Late(store: store).lastError == nil, "reported once")
    }

    private final class Whole: PersistentPrefs, @unchecked Sendable { @Pref var width = 1 }
    private final class Half: PersistentPrefs, @unchecked Sendable { @Pref var width = "1" }

    @Test func anErrorOfTheFirstAccessRemains() {
        let store = PrefsStore.memory()
        _ = Whole(key: "Root", store: store)
        let prefs = Half(key: "Root", values: ["width": 5], store: store)
        #expect(prefs.outcome == "width: expected String, found an integer")
    }

    private final class Tall: PersistentPrefs, @unchecked Sendable { @Pref var height = 1 }
    private final class High: PersistentPrefs, @unchecked Sendable { @Pref var height = "1" }

    @Test func theWarningRemainsAfterAFirstAccessThatSucceeds() throws {
        let store = PrefsStore.memory()
        _ = Tall(key: "Root", store: store)
        let prefs = High(key: "Root", values: ["height": "5"], store: store)
        #expect(prefs.lastError?.detail(of: PrefsError.problem) != nil, "\(prefs.outcome)")
        #expect(try store.read(root: "Root") as? [String: String] == ["height": "5"])
    }

    private class Base: PersistentPrefs, @unchecked Sendable {
        @Pref var id = UUID()
        @Pref var speed = 1.0
    }
    private final class Cars: Base, @unchecked Sendable {
        @Pref var wheels = 4
        @Pref var color = "red"
    }
    private final class Bikes: Base, @unchecked Sendable {
        @Pref var wheels = 2
        @Pref var color = "red"
    }
    private final class Trains: PersistentPrefs, @unchecked Sendable {
        @Pref var wheels = "many"
        @Pref var color = "red"
    }
    private final class Ships: PersistentPrefs, @unchecked Sendable {
        @Pref var color = "red"
        @Pref("speed") var knots = 1.0
    }

    @Test func oneFlatKeyWithTwoTypesOrDefaultsIsReported() throws {
        let folder = try TemporaryFolder()
        func store(_ name: String) -> PrefsStore {
            .propertyList(url: folder.file(name), durability: .crash, layout: .flat)
        }
        #expect(Cars(store: store("a")).lastError == nil)
        #expect(Ships(key: "Cars", store: store("a")).lastError == nil, "equal declarations")
        let bikes = Bikes(store: store("a"))
        let shared = try #require(bikes.lastError?.detail(of: PrefsError.problem), "\(bikes.outcome)")
        #expect(
            shared.reason.contains(" share a flat layout, and declare \"wheels\" with"), "not id, which both inherit")
        #expect(bikes.lastError?.isWarning == true)
        #expect(
            bikes.outcome.hasSuffix(
                "share a flat layout, and declare \"wheels\" with different types or defaults; give one of them another key"
            ))
        bikes.wheels = 3
        #expect(bikes.lastError == nil && Bikes(store: store("a")).lastError == nil, "it is a warning, reported once")
        #expect(Trains(key: "Trains", store: store("b")).lastError == nil, "another file")
    }

    private final class Wide: PersistentPrefs, @unchecked Sendable { @Pref var width = 1 }
    private final class Narrow: PersistentPrefs, @unchecked Sendable { @Pref var width = 2 }

    @Test func inRootsOfTheirOwnNothingIsShared() throws {
        let store = PrefsStore.memory()
        #expect(Wide(key: "A", store: store).lastError == nil && Narrow(key: "A", store: store).lastError == nil)
    }

    @Test func onlyContradictionsAreReported() throws {
        let folder = try TemporaryFolder()
        func store() -> PrefsStore { .propertyList(url: folder.file(), durability: .crash) }
        #expect(OneWay(key: "Root", store: store()).lastError == nil)
        #expect(SameWay(key: "Root", store: store()).lastError == nil, "the same types")
        let text = OtherWay(key: "Root", store: store()).outcome
        #expect(
            text.hasSuffix(
                "share the root \"Root\", and declare \"width\" with different types; give one of them a root key of its own"
            ))
    }
}
