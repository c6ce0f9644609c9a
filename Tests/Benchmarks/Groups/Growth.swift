import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import PrefsTool

extension Group {
    /// Each kind in three sizes, a decade and more apart: the time may grow by no more than the size.
    static let growth = Group(
        name: "growth", title: "one operation beside more and more of its kind",
        rows: [
            family("write-dictionaries", "writing x beside N small dictionaries, binary", [10, 1_000, 10_000]) {
                try writesBesideDictionaries($1, in: $0.store("write-dictionaries-\($1)", .crash))
            },
            family("json-write-dictionaries", "writing x beside N small dictionaries, JSON", [10, 1_000, 10_000]) {
                try writesBesideDictionaries($1, in: $0.jsonStore("json-write-dictionaries-\($1)"))
            },
            family("write-data", "writing N bytes of Data, binary", [100, 10_000, 100_000]) {
                try writesData($1, in: $0.store("write-data-\($1)", .crash))
            },
            family("json-write-data", "writing N bytes of Data, JSON", [100, 10_000, 100_000]) {
                try writesData($1, in: $0.jsonStore("json-write-data-\($1)"))
            },
            family("list-of-int", "writing an [Int] of N, in memory", [10, 1_000, 10_000]) {
                writesNumbers($1, in: PrefsStore.memory())
            },
            family("read-list-of-int", "reading an [Int] of N that has changed, in memory", [10, 1_000, 10_000]) {
                let store = PrefsStore.memory()
                GrowthPrefs(store: store).numbers = Array(1...$1)
                return try .reads { GrowthPrefs(store: store).numbers.count }
            },
            family("json-list-of-int", "writing an [Int] of N, all changed, JSON", [10, 1_000, 10_000]) {
                try writesNumbers($1, in: $0.jsonStore("json-list-of-int-\($1)"))
            },
            family("problems-unknown", "problems() with 200 keys and N unknown ones, JSON", [1, 30, 1_000]) {
                let url = try $0.file("problems-unknown-\($1)").deletingPathExtension().appendingPathExtension("json")
                let root = Dictionary(uniqueKeysWithValues: (0..<$1).map { ("unknownName\($0)Of", $0) })
                try JSONEncoder().encode(root).write(to: url)
                let prefs = ManyNamesPrefs(key: "Any", store: .json(url: url, layout: .flat))
                return problems(of: prefs, count: $1)
            },
            family("problems-variables", "problems() with 200 keys and N unknown variables", [1, 30, 1_000]) {
                let names = (0..<$1).map { ("GROWTH_UNKNOWN_NAME_\($0)_OF", "1") }
                let layer = PrefsLayer.environment(prefix: "GROWTH", in: Dictionary(uniqueKeysWithValues: names))
                let prefs = ManyNamesPrefs(key: "Any", store: .layered(.memory(), above: [layer]))
                return problems(of: prefs, count: $1)
            },
            family("show-plain", "`prefs show` of N names without dots", [8, 800, 8_000]) {
                try shows($1, "name", in: $0.file("show-plain-\($1)"))
            },
            family("show-dotted", "`prefs show` of N names with dots", [8, 800, 8_000]) {
                try shows($1, "a.dotted.name", in: $0.file("show-dotted-\($1)"))
            },
            family("open-beside", "opening a file and reading a value beside N open files", [10, 1_000, 5_000]) {
                try opens(beside: $1, in: $0)
            },
            family("observe-other-keys", "writing x beside N observers of another key", [10, 1_000, 10_000]) {
                try writes($1, observersOf: "numbers", in: $0)
            },
            family("observe-roots", "writing one of 1,000 roots of a file, of which N are observed", [1, 10, 1_000]) {
                try writes(observedRoots: $1, in: $0)
            },
            family("foreign-change", "a change by others of one of N observed files, until it is told", [1, 10, 1_000])
            {
                try foreignChanges(beside: $1, in: $0)
            },
            family("observe-one-key", "writing x, which N observers observe", [1, 10, 100]) {
                try writes($1, observersOf: "x", in: $0)
            },
        ].flatMap(\.self))

    private static func family(
        _ name: String, _ title: String, _ sizes: [Int],
        _ prepare: @escaping @Sendable (Place, Int) throws -> Operation
    ) -> [Row] {
        sizes.map { size in
            let comparisons: [Comparison] = size == sizes[0] ? [] : [.times("\(name)-\(sizes[0])")]
            return Row("\(name)-\(size)", title, comparisons) { try prepare($0, size) }
        }
    }

    private static func writesBesideDictionaries(_ count: Int, in store: PrefsStore) throws -> Operation {
        let prefs = GrowthPrefs(store: store)
        prefs.lists = (0..<count).map { ["number": $0, "width": 10, "height": 20] }
        try prefs.check()
        return .each(verify: prefs.check) { prefs.x = $0 }
    }

    private static func writesData(_ count: Int, in store: PrefsStore) throws -> Operation {
        let prefs = GrowthPrefs(store: store)
        let samples = [1, 2].map { Data(repeating: $0, count: count) }
        return .each(verify: prefs.check) { prefs.data = samples[$0 % 2] }
    }

    private static func writesNumbers(_ count: Int, in store: PrefsStore) -> Operation {
        let prefs = GrowthPrefs(store: store)
        let samples = [1, 2].map { Array($0..<($0 + count)) }
        return .each(verify: prefs.check) { prefs.numbers = samples[$0 % 2] }
    }

    private static func opens(beside count: Int, in place: Place) throws -> Operation {
        let url = try place.file("open-beside-\(count)")
        try GrowthPrefs(store: .propertyList(url: url)).set(5)
        let others = (0..<count).map { number in
            let other = url.deletingLastPathComponent().appending(path: "open-beside-\(count)-\(number).plist")
            let prefs = GrowthPrefs(store: .propertyList(url: other))
            _ = prefs.x
            return prefs
        }
        return try .reads {
            withExtendedLifetime(others) { GrowthPrefs(store: .propertyList(url: url)).x }
        }
    }

    private static func writes(_ count: Int, observersOf key: String, in place: Place) throws -> Operation {
        let prefs = GrowthPrefs(store: .memory())
        let observations = (0..<count).map { _ in prefs.onChange(of: key) { _ in } }
        return .each(verify: prefs.check) { number in withExtendedLifetime(observations) { prefs.x = number } }
    }

    private static func writes(observedRoots count: Int, in place: Place) throws -> Operation {
        let store = try place.store("observe-roots-\(count)", .crash)
        let roots = Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("Root\($0)", ["x": $0]) })
        try PropertyListEncoder().encode(roots).write(to: place.file("observe-roots-\(count)"))
        let all = (0..<count).map { GrowthPrefs(key: "Root\($0)", store: store) }
        let observations = all.map { $0.onChange(of: "x") { _ in } }
        return .each(verify: all[0].check) { number in withExtendedLifetime(observations) { all[0].x = number } }
    }

    private static func foreignChanges(beside count: Int, in place: Place) throws -> Operation {
        let url = try place.file("foreign-change-\(count)")
        let folder = url.deletingLastPathComponent()
        let others = (1..<count).map { number in
            GrowthPrefs(store: .propertyList(url: folder.appending(path: "foreign-\(count)-\(number).plist")))
        }
        let observations = others.map { $0.onChange(of: "x") { _ in } }
        let prefs = GrowthPrefs(store: .propertyList(url: url))
        let isTold = DispatchSemaphore(value: 0)
        let changes = Task.detached { for await _ in prefs.changes(of: "x") { isTold.signal() } }
        let new = folder.appending(path: "foreign-change-\(count).new")
        func change(_ number: Int) throws {
            try PropertyListEncoder().encode(["GrowthPrefs": ["x": number]]).write(to: new)
            if rename(new.path, url.path) != 0 { throw Unavailable("the file cannot be renamed") }
        }
        // The task begins at some time.
        for number in 1...1_000 {
            try change(-number)
            if isTold.wait(timeout: .now() + .milliseconds(100)) == .success { break }
        }
        return .each { number in
            try change(number + 1)
            if isTold.wait(timeout: .now() + .seconds(10)) != .success { throw Unavailable("nothing is told") }
            withExtendedLifetime((observations, changes)) {}
        }
    }

    private static func problems(of prefs: PersistentPrefs, count: Int) -> Operation {
        .each { _ in
            let found = prefs.problems().count
            if found != count { throw Unavailable("\(found) problems in place of \(count)") }
        }
    }

    private static func shows(_ count: Int, _ name: String, in url: URL) throws -> Operation {
        let values = Dictionary(uniqueKeysWithValues: (0..<count).map { ("\(name)\($0)", $0) })
        try PropertyListEncoder().encode(values).write(to: url)
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        let context = ProcessContext(
            executable: "prefs", environment: ProcessInfo.processInfo.environment, input: nothing, output: nothing,
            errors: STDERR_FILENO)
        return .each { _ in
            let code = PrefsTool.run(
                ["show", "-f", url.path], name: "prefs", suite: "growth", others: [],
                storeOfURL: { url throws(PrefsError) in throw .invalidName(name: url, reason: "is not used here") },
                context: context
            ) { root, store in GrowthPrefs(key: root, store: store ?? PrefsStore.memory()) }
            if code != 0 { throw Unavailable("show has failed: \(code)") }
        }
    }
}

extension Place {
    fileprivate func jsonStore(_ name: String) throws -> PrefsStore {
        .json(
            url: try file(name).deletingPathExtension().appendingPathExtension("json"), durability: .crash)
    }
}

/// Values that may be large.
private final class GrowthPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var x = 0
    @Pref var lists: [[String: Int]] = []
    @Pref var data = Data()
    @Pref var numbers: [Int] = []

    func set(_ number: Int) throws {
        x = number
        try check()
    }
}

/// A class with 200 keys.
private final class ManyNamesPrefs: PersistentPrefs, @unchecked Sendable {
    override var allowedKeys: [String] { Self.names }

    private static let names = (0..<200).map { "aNameOfSomeLength\($0)" }
}
