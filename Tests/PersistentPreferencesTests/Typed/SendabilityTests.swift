import Foundation
import PersistentPreferences
import Testing

private final class Counter: Codable {
    var count = 0
}

/// Makes an object that its encoded form does not show.
private struct Hidden: Codable {
    let counter: Counter

    init() { counter = Counter() }
    init(from decoder: any Decoder) throws {
        counter = Counter()
        counter.count = try decoder.singleValueContainer().decode(Int.self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(counter.count)
    }
}

private final class ObjectPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(coding: PrefCoding(rule: Counter.self)) var counter = Counter()
    @Pref var list = [Counter()]
    @Pref var optional: Counter? = Counter()
    @Pref var hidden = Hidden()
    @Pref var any: [Any] = [NSMutableArray(object: "a")]
    @Pref(
        coding: PrefCoding(encode: { $0.count }, decode: { ($0 as? Int).map { number in Counter(number) } }))
    var coded = Counter(3)
}

extension Counter {
    fileprivate convenience init(_ count: Int) {
        self.init()
        self.count = count
    }
}

/// Values that are not Sendable stay on their thread.
@Suite struct SendabilityTests {
    @Test func noTwoReadsShareAnObject() throws {
        let prefs = ObjectPrefs(store: InMemoryStore())
        let reads: [() -> AnyObject?] = [
            { prefs.counter }, { prefs.list.first }, { prefs.optional }, { prefs.hidden.counter }, { prefs.coded },
            { prefs.$counter.value }, { prefs.$counter.defaultValue }, { prefs.$list.defaultValue.first },
            { prefs.describe().first?.defaultValue as? Counter },
        ]
        func check() {
            for (number, read) in reads.enumerated() {
                let (first, second) = (read(), read())
                #expect(first != nil && first !== second, "read \(number)")
            }
        }
        check()
        (prefs.any.first as? NSMutableArray)?.add("b")
        #expect(prefs.any as? [[String]] == [["a"]])
        // The same for stored values.
        prefs.update {
            prefs.counter = Counter(1)
            prefs.list = [Counter(2)]
            prefs.optional = Counter(4)
            prefs.hidden = Hidden()
            prefs.coded = Counter(5)
        }
        #expect(prefs.lastError == nil && prefs.counter.count == 1 && prefs.coded.count == 5)
        check()
    }

    @Test func eightTasksReadADefaultThatIsAnObject() async {
        let prefs = ObjectPrefs(store: InMemoryStore())
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<100 {
                        let counter = prefs.counter
                        counter.count += 1
                        #expect(counter.count == 1)
                    }
                }
            }
        }
    }

    @Test func aDefaultThatCannotBeCopiedStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            final class Handle: Codable {
                init() {}
                func encode(to encoder: any Encoder) throws { throw CancellationError() }
                init(from decoder: any Decoder) throws { throw CancellationError() }
            }
            final class HandlePrefs: PersistentPrefs, @unchecked Sendable {
                @Pref(coding: PrefCoding(rule: Handle.self)) var handle = Handle()
            }
            _ = HandlePrefs(store: InMemoryStore())
        }
    }
}
