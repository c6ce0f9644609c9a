import Foundation
import Testing
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsLayers
@testable import PrefsSupport

/// A layer's file that says which version its values have: they are migrated in memory, as those of the base are.
@Suite(.waits) struct LayerVersionTests {
    private struct Stop: Error {}

    private final class TimePrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.in(0...86_400)) var seconds = 0
        @Pref(.formerly("colour")) var color = "red"
        @Pref var name = ""
        override class var versionKey: String { "version" }
        override class var migrations: [PrefsMigration] {
            [
                PrefsMigration(to: 2) { values in
                    if values["name"] as? String == "stop" { throw Stop() }
                    guard let minutes = values.removeValue(forKey: "minutes") as? Int else { return }
                    values["seconds"] = minutes * 60
                }
            ]
        }
    }

    private final class CountedPrefs: PersistentPrefs, @unchecked Sendable {
        static let runs = Locked(0)

        @Pref var seconds = 0
        @Pref var name = ""
        override class var migrations: [PrefsMigration] {
            [PrefsMigration(to: 2) { _ in runs.withLock { $0 += 1 } }]
        }
    }

    /// Has no migrations.
    private final class PlainPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var minutes = 0
        @Pref var version = 0
    }

    private let folder = TemporaryFolder.fresh

    private var file: URL { folder.file("layer.json") }

    private func put(_ values: String, layout: DomainLayout = .flat) throws {
        let text = layout == .flat ? values : #"{"TimePrefs": \#(values)}"#
        try Data(text.utf8).write(to: file, options: .atomic)
    }

    private func prefs(layout: DomainLayout = .flat, isAbove: Bool = true) -> TimePrefs {
        let base = PrefsStore.propertyList(url: folder.file("base.plist"), durability: .crash, layout: layout)
        let layers = [PrefsLayer.file(file)]
        return TimePrefs(
            store: .layered(
                base, above: isAbove ? layers : [], below: (isAbove ? [] : layers) + [.values(["seconds": 5])]))
    }

    @Test(arguments: [DomainLayout.roots, .flat], [true, false])
    func valuesWithAVersionAreMigrated(_ layout: DomainLayout, _ isAbove: Bool) throws {
        let prefs = prefs(layout: layout, isAbove: isAbove)
        try put(#"{"version": 1, "minutes": 2, "colour": "blue"}"#, layout: layout)
        expectEventually(prefs.seconds, is: 120)
        #expect(prefs.color == "blue" && prefs.lastError == nil)
        #expect(prefs.values["seconds"] as? Int == 120)
        #expect(prefs.$seconds.source == .layer(file.path))
        #expect(prefs.problems() == [], "its keys are those after the migration")
        // Of the newest version, or of none: the file is read as it is. A former key alone is renamed.
        for mark in [#""version": 2, "#, ""] {
            try put(#"{\#(mark)"minutes": 2, "seconds": 7}"#, layout: layout)
            expectEventually(prefs.seconds, is: 7)
            #expect(prefs.problems().map(\.path) == ["minutes in \(file.path)"])
        }
        #expect(try folder.names().contains("layer.json") && prefs.color == "red")
    }

    /// The file is never written, so its version is no concern of a write to the base.
    @Test func aWriteMigratesNoLayer() throws {
        try put(#"{"version": 1, "minutes": 2}"#)
        let text = try Data(contentsOf: file)
        let prefs = prefs(isAbove: false)
        #expect(prefs.$name.set("n") == nil && prefs.seconds == 120)
        #expect(try Data(contentsOf: file) == text)
        #expect(prefs.$seconds.set(9) == nil && prefs.seconds == 9)
    }

    @Test func aMigratedValueIsChecked() throws {
        try put(#"{"version": 1, "minutes": 2000}"#)
        let prefs = prefs()
        #expect(prefs.seconds == 5)
        let reason = "must be in 0...86400"
        #expect(
            prefs.lastError?.layerFaults
                == [PrefsProblem(layer: file.path, place: "seconds in \(file.path)", reason: reason)])
    }

    /// Each class and each state of the file once.
    @Test func aMigrationRunsOnceForEachStateOfTheFile() throws {
        try put(#"{"PersistentPreferences version": 1, "seconds": 2}"#)
        let prefs = CountedPrefs(
            store: .layered(
                PrefsStore.propertyList(url: folder.file("base.plist"), durability: .crash, layout: .flat),
                above: [.file(file)]))
        for _ in 0..<10 { _ = (prefs.seconds, prefs.name, prefs.values, prefs.problems()) }
        #expect(prefs.seconds == 2 && CountedPrefs.runs.withLock { $0 } == 1)
    }

    @Test func aFailedMigrationIsAFaultOfTheLayer() throws {
        try put(#"{"version": 1, "minutes": 2, "name": "stop"}"#)
        let prefs = prefs()
        let heard = prefs.errorObserver()
        let reason = #""TimePrefs" could not be migrated to version 2: Stop()"#
        #expect(heard.all == ["layer \(file.path): \(reason); ignored"])
        for _ in 0..<2 {
            #expect((prefs.seconds, prefs.name) == (5, ""), "the next layer is read")
            #expect(
                prefs.lastError
                    == .ignoredInLayer([
                        PrefsProblem(layer: file.path, place: file.path, reason: reason, kind: .version)
                    ]))
        }
        let problems = prefs.problems()
        #expect(problems.map(\.description) == ["\(file.path): \(reason)"])
        #expect(problems.map(\.kind) == [.version] && problems.map(\.source) == [.layer(file.path)])
        #expect(heard.all.count == 1)
        #expect(prefs.$name.set("n") == nil && prefs.name == "n")
        // A version that is no number is the same.
        try put(#"{"version": "x", "minutes": 2}"#)
        expectEventually(
            prefs.problems().map(\.reason),
            is: [
                #""TimePrefs" could not be migrated to version 2: the version stored in the root is not a whole number"#
            ])
    }

    /// As in the base, the values are read as they are.
    @Test func aNewerVersionIsAProblemOfTheLayer() throws {
        try put(#"{"version": 3, "seconds": 7}"#)
        let prefs = prefs()
        #expect(prefs.seconds == 7 && prefs.lastError == nil)
        let problem = try #require(prefs.problems().first)
        let reason = "is 3, and this program knows versions up to 2: a newer one has written the values"
        #expect(problem.description == "version in \(file.path): \(reason)")
        #expect(problem.kind == .version && problem.source == .layer(file.path))
        #expect(problem.error == .problem(problem) && prefs.problems().count == 1)
        #expect(prefs.errorObserver().all == ["version in \(file.path): \(reason)"])
    }

    @Test func aClassWithoutMigrationsReadsTheFileAsItIs() throws {
        try put(#"{"version": 1, "minutes": 2}"#)
        let prefs = PlainPrefs(
            store: .layered(
                PrefsStore.propertyList(url: folder.file("base.plist"), layout: .flat), above: [.file(file)]))
        #expect((prefs.version, prefs.minutes) == (1, 2) && prefs.problems() == [])
    }

    @Test func observersHearMigratedValues() throws {
        let prefs = prefs()
        let heard = Observer<Int> { tell in prefs.$seconds.onChange { tell($1) } }
        try put(#"{"version": 1, "minutes": 2}"#)
        heard.wait { $0.last == 120 }
        #expect(heard.all == [120])
    }
}
