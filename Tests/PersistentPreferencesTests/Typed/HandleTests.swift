import Foundation
@testable import PrefsSupport
import PrefsStoreKit
import Testing

@testable import PersistentPreferences

private struct Point: Codable, Equatable {
    var x = 0
    var y = 0
}

private final class HandledPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(0...1_000_000)) var number = 7
    @Pref("Own Key") var text: String? = nil
    @Pref var point = Point(x: 1)
    @Pref var fallback: Int? = 3
}

@Suite struct HandleTests {
    private let file: TypedFile
    private let prefs: HandledPrefs

    init() throws {
        file = try TypedFile()
        prefs = HandledPrefs(key: TypedFile.root, store: file.store)
    }

    @Test func aHandleIsTheProperty() throws {
        let number = prefs.$number
        #expect(number.key == "number" && number.defaultValue == 7 && number.value == 7)
        #expect(!number.isStored && number.isDefault)
        #expect(number.set(7) == nil && number.isStored && number.isDefault)
        #expect(number.set(8) == nil && number.isStored && !number.isDefault)
        #expect(number.value == 8 && prefs.number == 8)
        #expect(number.reset() == nil && number.reset() == nil)
        #expect(!number.isStored && number.isDefault && prefs.number == 7)
        #expect(try file.stored == exactly([:]))

        #expect(prefs.$point.isDefault && prefs.$point.set(Point(x: 1, y: 0)) == nil && prefs.$point.isDefault)
        prefs.point.y = 2
        #expect(!prefs.$point.isDefault && prefs.$point.value == Point(x: 1, y: 2))

        let text = prefs.$text
        #expect(text.key == "Own Key" && text.defaultValue == nil && text.isDefault)
        #expect(text.set("") == nil && text.isStored && !text.isDefault)
        #expect(text.set(nil) == nil && !text.isStored && text.isDefault)
        prefs.fallback = nil
        #expect(prefs.fallback == 3 && !prefs.$fallback.isStored)
    }

    private final class ToldPrefs: RecordingPrefs, @unchecked Sendable {
        @Pref(.in(0...9)) var digit = 0
        @Pref var other = 0
    }

    /// Whether the change, its end, or a write beside it is rejected.
    @Test func aModifyThatFailsIsToldOnce() throws {
        let store = PrefsStore.memory()
        let prefs = ToldPrefs(key: "R", store: store)
        let violation = "digit: must be in 0...9"
        #expect(prefs.$digit.modify { $0 = 10 } == prefs.lastError && prefs.errors == [violation])
        prefs.$other.modify {
            $0 = 1
            prefs.digit = 11
        }
        #expect(prefs.errors == [violation, violation] && prefs.other == 0)
        try store.update(root: "R") { $0 = ["digit": "x"] }
        #expect(prefs.$digit.modify { $0 += 1 } == prefs.lastError)
        #expect(prefs.errors.dropFirst(2) == ["digit: expected Int, found a string"])
    }

    @Test func aHandleSpeaksForItsInstance() {
        let other = HandledPrefs(key: "Other", store: file.store)
        prefs.$number.set(100)
        other.$number.set(200)
        #expect(prefs.number == 100 && other.number == 200)
        let moved = prefs.$number
        prefs.key = "Other"
        #expect(moved.value == 200)
        prefs.key = TypedFile.root
        #expect(moved.value == 100)
    }

    @Test func aHandleIdentifiesAPropertyOfAnInstance() {
        let other = HandledPrefs(key: TypedFile.root, store: file.store)
        #expect(prefs.$fallback == prefs.$fallback && prefs.$fallback.id == prefs.$fallback)
        #expect(prefs.$fallback != other.$fallback, "another instance of the same root")
        final class Twins: PersistentPrefs, @unchecked Sendable {
            @Pref var one = 1
            @Pref var other = 1
        }
        let twins = Twins(store: file.store)
        #expect(twins.$one != twins.$other && Set([twins.$one, twins.$other, twins.$one]).count == 2)
    }

    private final class AlikePrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var number = 1

        override func isEqual(_ object: Any?) -> Bool { object is AlikePrefs }
        override var hash: Int { number }
    }

    /// A class may say that its instances are equal, and have a hash that changes.
    @Test func aHandleAsksTheInstanceForNoEquality() {
        let (one, other) = (AlikePrefs(store: .memory()), AlikePrefs(store: .memory()))
        let handles = Set([one.$number, other.$number])
        #expect(one == other && one.$number != other.$number && handles.count == 2)
        one.number = 2
        #expect(handles.contains(one.$number) && handles.contains(other.$number))
    }

    @Test func anInstanceLivesAsLongAsItsHandle() {
        weak var instance: HandledPrefs?
        do {
            let handle = {
                let prefs = HandledPrefs(key: TypedFile.root, store: file.store)
                instance = prefs
                return prefs.$number
            }()
            #expect(handle.set(1) == nil && handle.value == 1)
        }
        #expect(instance == nil)
    }
}
