@testable import PrefsSupport
import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsJSON

/// The stores that a value must survive.
enum StoreKind: CaseIterable {
    case memory, binary, xml, json

    func make(in folder: TemporaryFolder) -> PrefsStore {
        switch self {
        case .memory: PrefsStore.memory()
        case .binary: PrefsStore.propertyList(url: folder.file(), format: .binary, durability: .crash)
        case .xml: PrefsStore.propertyList(url: folder.file(), format: .plainXML, durability: .crash)
        case .json: PrefsStore.propertyList(url: folder.file(), format: .json, durability: .crash)
        }
    }
}

/// Values of one type, stored in every shape that a property can have and read by another instance, from the disk if
/// the store has one.
struct RoundTrip<Value> {
    let values: [Value]
    let isSame: (Value, Value) -> Bool
    /// The value after it was stored in XML.
    var inXML: (Value) -> Value = { $0 }

    func run(on kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = kind.make(in: folder)
        let prefs = ShapePrefs.make(values[0], store: store)
        let reader = ShapePrefs.make(values[values.count - 1], store: store)
        #expect(isSame(reader.plain, values[values.count - 1]), "the default")
        #expect(reader.optional == nil && reader.double == nil && reader.list.isEmpty && reader.dictionary.isEmpty)
        for value in values {
            let error = prefs.update {
                prefs.plain = value
                prefs.optional = value
                prefs.double = .some(.some(value))
                prefs.list = values + [value]
                prefs.gaps = [nil, value, nil]
                prefs.dictionary = ["a": value, "$null": values[0]]
                prefs.deep = ["a": [[value], nil, []], "b": nil]
            }.failure
            #expect(error == nil)
            reader.reload()
            let expected = kind == .xml ? inXML(value) : value
            #expect(isSame(reader.plain, expected), "\(reader.plain) is not \(expected)")
            #expect(areSame([reader.optional, reader.double ?? nil], [expected, expected]))
            let all = kind == .xml ? (values + [value]).map(inXML) : values + [value]
            #expect(areSame(reader.list, all))
            #expect(areSame(reader.gaps, [nil, expected, nil]))
            #expect(reader.dictionary.keys.sorted() == ["$null", "a"])
            #expect(areSame([reader.dictionary["a"], reader.dictionary["$null"]], [expected, all[0]]))
            let deep = reader.deep
            #expect(deep.keys.sorted() == ["a", "b"])
            if case .some(.some) = deep["b"] { Issue.record("a nil in a dictionary became \(deep)") }
            let lists = (deep["a"] ?? nil) ?? []
            #expect(lists.count == 3 && lists[1] == nil && lists[2]?.isEmpty == true)
            #expect(areSame(lists.first??.map { $0 } ?? [], [expected]))
            #expect(reader.outcome == "ok")
        }
        try checkNil(prefs, reader)
    }

    private func checkNil(_ prefs: ShapePrefs<Value>, _ reader: ShapePrefs<Value>) throws {
        prefs.optional = nil
        prefs.double = .some(.none)
        reader.reload()
        #expect(reader.optional == nil && !reader.$optional.isStored)
        #expect(reader.$double.isStored)
        guard case .some(.none) = reader.double else {
            Issue.record("the inner nil became \(String(describing: reader.double))")
            return
        }
        prefs.double = nil
        #expect(!reader.$double.isStored && prefs.outcome == "ok")
    }

    private func areSame(_ left: [Value?], _ right: [Value?]) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { left, right in
                switch (left, right) {
                case (nil, nil): true
                case (let left?, let right?): isSame(left, right)
                default: false
                }
            }
    }
}

extension RoundTrip where Value: Hashable {
    func runAsSet(on kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = kind.make(in: folder)
        let prefs = SetPrefs<Value>(store: store)
        prefs.set = Set(values)
        prefs.gaps = Set(values.map(Optional.some) + [nil])
        #expect(prefs.outcome == "ok")
        let reader = SetPrefs<Value>(store: store)
        reader.reload()
        let expected = Set(kind == .xml ? values.map(inXML) : values)
        #expect(reader.set == expected)
        #expect(reader.gaps == Set(expected.map(Optional.some) + [nil]))
        #expect(reader.outcome == "ok")
    }
}

extension RoundTrip where Value: Codable {
    /// Runs with each value as a member of a Codable type.
    func runAsMember(on kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = kind.make(in: folder)
        let prefs = MemberPrefs<Value>(store: store)
        let reader = MemberPrefs<Value>(store: store)
        for value in values {
            prefs.member = Member(value: value, optional: value, missing: nil, list: [nil, value], named: ["a": value])
            #expect(prefs.outcome == "ok")
            reader.reload()
            let expected = kind == .xml ? inXML(value) : value
            let member = try #require(reader.member, "\(reader.outcome)")
            #expect(member.missing == nil && reader.outcome == "ok")
            #expect(areSame([member.value, member.optional, member.named["a"]], [expected, expected, expected]))
            #expect(areSame(member.list, [nil, expected]))
        }
    }
}

struct Member<Value: Codable>: Codable {
    let value: Value
    let optional: Value?
    let missing: Value?
    let list: [Value?]
    let named: [String: Value]
}

/// A property of each shape, with the default coding.
final class ShapePrefs<Value>: PersistentPrefs, @unchecked Sendable {
    @Pref(coding: PrefCoding(rule: Value.self)) var plain: Value = Fallback.current()
    @Pref(coding: PrefCoding(rule: Value?.self)) var optional: Value? = nil
    @Pref(coding: PrefCoding(rule: Value??.self)) var double: Value?? = nil
    @Pref(coding: PrefCoding(rule: [Value].self)) var list: [Value] = []
    @Pref(coding: PrefCoding(rule: [Value?].self)) var gaps: [Value?] = []
    @Pref(coding: PrefCoding(rule: [String: Value].self)) var dictionary: [String: Value] = [:]
    @Pref(coding: PrefCoding(rule: [String: [[Value]?]?].self)) var deep: [String: [[Value]?]?] = [:]

    static func make(_ fallback: Value, store: PrefsStore) -> ShapePrefs {
        Fallback.with(fallback) { ShapePrefs(key: "root", store: store) }
    }
}

/// The default of properties while an instance is created, for types without an own default.
private enum Fallback {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var value: Any?

    static func with<R>(_ value: Any, _ body: () -> R) -> R {
        lock.withLock {
            self.value = value
            return body()
        }
    }

    static func current<Value>() -> Value {
        guard let value = value as? Value else { preconditionFailure("no default of \(Value.self)") }
        return value
    }
}

private final class SetPrefs<Value: Hashable>: PersistentPrefs, @unchecked Sendable {
    @Pref(coding: PrefCoding(rule: Set<Value>.self)) var set: Set<Value> = []
    @Pref(coding: PrefCoding(rule: Set<Value?>.self)) var gaps: Set<Value?> = []
}

private final class MemberPrefs<Value: Codable>: PersistentPrefs, @unchecked Sendable {
    @Pref var member: Member<Value>? = nil
}
