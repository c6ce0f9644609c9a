@testable import PrefsSupport
import EngineSupport
import Foundation
import PrefsStoreKit
import Testing

@testable import PersistentPreferences
@testable import PrefsKeys
@testable import PrefsLayers

private final class ReadPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(8...72)) var size = 12
    @Pref var number = 0
    @Pref(.in(["light", "dark"])) var theme = "light"
}

private struct ReadKey: PrefKey { static let defaultValue = 12 }

extension AppSettingsValues {
    fileprivate var readKey: Int { self[ReadKey.self] }
}

/// A read from a cache returns and reports the same as the read before it.
@Suite struct SecondReadTests {
    private let folder = TemporaryFolder.fresh

    private func store(_ name: String = "test.plist") -> PrefsStore {
        .propertyList(url: folder.file(name), durability: .crash)
    }

    /// The results and reports of four reads. Between them, another property is read without an error.
    private func four(_ prefs: ReadPrefs, _ read: () -> String) -> [String] {
        (0..<4).map { round in
            let found = read()
            defer { if round == 2 { _ = prefs.number } }
            return "\(found), \(prefs.outcome)"
        }
    }

    /// Gives both sides of a comparison one type.
    private func numbers(_ numbers: Int?...) -> [Int?] { numbers }

    private func times(_ count: Int, _ text: String) -> [String] { Array(repeating: text, count: count) }

    @Test(arguments: StoreKind.allCases)
    func aValueThatBreaksItsConstraintIsReportedByEachRead(on kind: StoreKind) throws {
        let store = kind.make(in: folder)
        try store.update(root: "Root") { $0 = ["size": 4711, "theme": "hidden", "number": 1] }
        let prefs = ReadPrefs(key: "Root", store: store)
        let size = "size: must be in 8...72"
        #expect(four(prefs) { "\(prefs.size)" } == times(4, "12, \(size)"))
        let theme = "theme: must be one of light, dark"
        #expect(four(prefs) { prefs.theme } == times(4, "light, \(theme)"))
        #expect(four(prefs) { "\(prefs.size)" } == times(4, "12, \(size)"))
        // Reads without the type have nothing to report.
        #expect(four(prefs) { "\(prefs["size"] ?? "none")" } == times(4, "4711, ok"))
        #expect(four(prefs) { "\(prefs.values["size"] ?? "none")" } == times(4, "4711, ok"))
        #expect(four(prefs) { "\(prefs.$size.isDefault)" } == times(4, "true, \(size)"))
    }

    @Test func aDamagedFileIsReportedByEachRead() throws {
        let prefs = ReadPrefs(key: "Root", values: ["number": 5, "size": 20], store: store())
        #expect(prefs.number == 5 && prefs.size == 20)
        try folder.damage()
        #expect(!prefs.problems().isEmpty)
        let reads: [() -> String] = [
            { "\(prefs.number)" }, { "\(prefs.size)" }, { "\(prefs["number"] ?? "none")" },
            { "\(prefs.values["number"] ?? "none")" },
        ]
        for (read, value) in zip(reads, ["5", "20", "5", "5"]) {
            for _ in 0..<4 {
                #expect(read() == value)
                let file = try #require(prefs.lastError?.detail(of: PrefsError.damaged), "\(prefs.outcome)")
                #expect(file.state == .lastKnown && file.quarantinedAs == nil)
            }
        }
    }

    @Test func aLinkThatLeadsElsewhereIsFollowedByEachRead() throws {
        for (name, number) in [("a", 1), ("b", 2)] {
            try store("\(name).plist").update(root: "Root") { $0 = ["number": number] }
        }
        let link = folder.file().path
        func retarget(_ target: String) {
            unlink(link)
            #expect(symlink(target, link) == 0)
        }
        retarget("a.plist")
        let prefs = ReadPrefs(key: "Root", store: store())
        for _ in 0..<3 {
            #expect(
                numbers(prefs.number, prefs.number, prefs["number"] as? Int, prefs.ints["number"])
                    == numbers(1, 1, 1, 1))
            retarget("b.plist")
            #expect(
                numbers(prefs.number, prefs.number, prefs["number"] as? Int, prefs.ints["number"])
                    == numbers(2, 2, 2, 2))
            retarget("a.plist")
        }
    }

    // MARK: - Layers

    private func layered(above: [PrefsLayer] = [], below: [PrefsLayer] = []) -> ReadPrefs {
        ReadPrefs(key: "Root", store: .layered(store(), above: above, below: below))
    }

    @Test func anEntryOfALayerThatDoesNotFitIsReportedByEachRead() {
        let variable = PrefsLayer.environment(prefix: "APP_", in: ["APP_size": "500"])
        let prefs = layered(above: [variable], below: [.values(["theme": "hidden"])])
        let size = "layer environment: APP_size: must be in 8...72"
        let theme = "layer values: theme: must be one of light, dark"
        let outcomes = (0..<3).map { _ in
            ["\(prefs.size)", prefs.outcome, prefs.theme, prefs.outcome, "\(prefs.number)", prefs.outcome]
        }
        for outcome in outcomes {
            #expect(outcome[0] == "12" && outcome[1].contains(size), "\(outcome)")
            #expect(outcome[2] == "light" && outcome[3].contains(theme), "\(outcome)")
            #expect(outcome[4] == "0" && outcome[5] == "ok", "\(outcome)")
        }
    }

    @Test func aStoredValueThatDoesNotFitIsReportedByEachReadOfTheLayerBelow() throws {
        try store().update(root: "Root") { $0 = ["size": 4711] }
        let prefs = layered(below: [.values(["size": 20])])
        #expect(four(prefs) { "\(prefs.size)" } == times(4, "20, size: must be in 8...72"))
    }

    @Test func aLayerThatCannotBeReadIsReportedByEachReadWithTheReasonOfNow() throws {
        let file = folder.file("layer.plist")
        try Data("one".utf8).write(to: file)
        let prefs = layered(above: [.file(file)])
        prefs.number = 5
        func check(_ reason: String) throws {
            for _ in 0..<3 {
                #expect(prefs.number == 5)
                let faults = try #require(prefs.lastError?.detail(of: PrefsError.ignoredInLayer), "\(prefs.outcome)")
                #expect(faults.map(\.path) == [file.path])
                #expect(faults.allSatisfy { $0.reason.contains(reason) }, "\(faults)")
            }
        }
        try check("is neither a binary nor an XML property list")
        try FileManager.default.removeItem(at: file)
        #expect(mkdir(file.path, 0o700) == 0)
        try check("is a folder")
        rmdir(file.path)
        #expect(mkfifo(file.path, 0o600) == 0)
        try check("is a FIFO")
        unlink(file.path)
        #expect((0..<3).map { _ in "\(prefs.number), \(prefs.outcome)" } == times(3, "5, ok"))
    }

    /// A layer of several files, of which the first that exists counts, on both sides of the base.
    @Test(arguments: [true, false]) func eachFileOfALayerIsLookedAtByEachRead(_ isAbove: Bool) throws {
        for name in ["one", "two"] { #expect(mkdir(folder.file(name).path, 0o700) == 0) }
        let system = PrefsLayer.system("app", in: ["XDG_CONFIG_DIRS": "\(folder.path)/one:\(folder.path)/two"])
        let prefs = isAbove ? layered(above: [system]) : layered(below: [system])
        #expect(numbers(prefs.number, prefs.number) == numbers(0, 0))
        for number in 1...3 {
            try writePropertyList(["Root": ["number": number]], to: folder.file("two/app.plist"))
            #expect(numbers(prefs.number, prefs.number) == numbers(number, number))
        }
        for number in 4...6 {
            try writePropertyList(["Root": ["number": number]], to: folder.file("one/app.plist"))
            #expect(numbers(prefs.number, prefs.number, prefs["number"] as? Int) == numbers(number, number, number))
        }
        for name in ["one", "two"] { try FileManager.default.removeItem(at: folder.file(name)) }
        expectEventually(prefs.number, is: 0)
        #expect(numbers(prefs.number, prefs.number) == numbers(0, 0))
    }

    @Test func theLayersOfEachRootAreItsOwn() throws {
        let file = folder.file("layer.plist")
        try writePropertyList(["One": ["number": 1], "Two": ["number": 2]], to: file)
        let prefs = ReadPrefs(key: "One", store: .layered(store(), above: [.file(file)]))
        for _ in 0..<3 {
            for (root, number) in [("One", 1), ("Two", 2), ("Three", 0)] {
                prefs.key = root
                #expect(
                    numbers(prefs.number, prefs.number, prefs.ints["number"] ?? 0) == numbers(number, number, number))
            }
        }
    }

    @Test func theBaseAndTheLayersAreLookedAtByEachRead() throws {
        let file = folder.file("layer.plist")
        try writePropertyList(["Root": ["size": 20]], to: file)
        let prefs = layered(below: [.file(file)])
        for number in 1...5 {
            try store().update(root: "Root") { $0 = ["number": number] }
            #expect(numbers(prefs.number, prefs.number, prefs.size, prefs.size) == numbers(number, number, 20, 20))
        }
        for size in 21...25 {
            try writePropertyList(["Root": ["size": size]], to: file)
            #expect(numbers(prefs.number, prefs.number, prefs.size, prefs.size) == numbers(5, 5, size, size))
        }
    }

    // MARK: - Keys

    @Test func aSettingIsReadAgainEachTime() throws {
        let store = store()
        let settings = AppSettingsValues(store: store, root: "Root")
        for number in 1...4 {
            try store.update(root: "Root") { $0 = ["ReadKey": number] }
            #expect(numbers(settings.readKey, settings.readKey) == numbers(number, number))
        }
        for number in 5...8 {
            try writePropertyList(["Root": ["ReadKey": number]], to: folder.file())
            #expect(numbers(settings.readKey, settings.readKey) == numbers(number, number))
        }
        try folder.damage()
        #expect(numbers(settings.readKey, settings.readKey) == numbers(8, 8))
        try store.update(root: "Root") { $0 = nil }
        #expect(numbers(settings.readKey, settings.readKey) == numbers(12, 12))
    }

    @Test func aSuccessAfterAFailureIsToldAlsoIfTheProgramHasClearedTheError() throws {
        final class HeardPrefs: PersistentPrefs, @unchecked Sendable {
            @Pref(.in(8...72)) var size = 12
            @Pref var number = 0
            var heard: [Bool] = []
            override var lastError: PrefsError? { didSet { heard.append(lastError != nil) } }
        }
        let store = PrefsStore.memory()
        try store.update(root: "Root") { $0 = ["size": 4711, "number": 1] }
        let prefs = HeardPrefs(key: "Root", store: store)
        #expect((0..<2).map { _ in prefs.number } == [1, 1])
        prefs.heard = []
        #expect(prefs.size == 12)
        prefs.lastError = nil
        #expect((0..<2).map { _ in prefs.number } == [1, 1])
        #expect(prefs.heard == [true, false, false])
    }

    /// Two paths may have one place in the table, and a path of an equal value is another one.
    @Test func theTableOfKeyPathsFindsEachObjectByItsOwnPath() {
        final class Item {}
        let paths = (0..<200).map { \[Int].[$0] as AnyKeyPath }
        let items = paths.map { _ in Item() }
        var table = KeyPathTable()
        #expect(paths.allSatisfy { table[$0] == nil })
        for (path, item) in zip(paths, items) { table.add(item, at: path, limit: 150) }
        table.add(items[1], at: paths[0], limit: 150)
        #expect(zip(paths, items).prefix(150).allSatisfy { table[$0] === $1 })
        #expect(paths.dropFirst(150).allSatisfy { table[$0] == nil })
        #expect((0..<200).allSatisfy { table[\[Int].[$0]] == nil })
    }

    @Test func aWrapperThatAnInitializerAssignsCounts() {
        final class StartPrefs: PersistentPrefs, @unchecked Sendable {
            @Pref var size = 12

            init(size: Int) {
                super.init(key: "Root", store: .memory())
                _size = Pref(wrappedValue: size)
            }
        }
        for size in [9, 10] {
            let prefs = StartPrefs(size: size)
            #expect((0..<2).map { _ in prefs.size } == [size, size])
            prefs.size = 1
            #expect(prefs.size == 1)
        }
    }

    @Test func aGenericClassMakesItsKeyPathsAnewAndReadsTheSame() {
        let prefs = GenericPrefs<String>(key: "Root", store: store())
        for round in 0..<100 {
            prefs.first = round
            prefs.second = -round
            #expect(prefs.first == round && prefs.second == -round)
        }
    }
}

private final class GenericPrefs<Value>: PersistentPrefs, @unchecked Sendable {
    @Pref var first = 0
    @Pref var second = 0
}
