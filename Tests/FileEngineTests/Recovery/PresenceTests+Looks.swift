import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// Looks that meet other changes, and looks of several threads.
extension PresenceTests {
    // MARK: - Slow looks

    /// Between two looks, one comes that began 40 ms before the first of them: the waits add up as without it.
    @Test func aSlowLookTakesNoTimeBack() {
        var presence = Presence()
        func answer(at milliseconds: Int) -> Presence.Answer {
            let (begin, time) = (
                Duration.milliseconds(milliseconds), FileStatus.Time(seconds: Int64(milliseconds), nanoseconds: 0)
            )
            return presence.answer(
                to: .init(
                    absence: .missing, isKnown: true, changed: time, begin: begin,
                    clock: time...time))
        }
        // Each change of the folder begins a window of its own, until they last a second together.
        let answers = (1...30).map { round in
            defer { _ = answer(at: 60 * round + 20) }
            return answer(at: 60 * round + 60)
        }
        let restless = Presence.Answer.restless(.milliseconds(250))
        #expect(answers.prefix(15).allSatisfy { $0 != restless } && answers.last == restless, "\(answers)")
        // The same of a slow look at the whole file.
        for time in [5_000, 4_000] { presence.sawWhole(at: .milliseconds(time)) }
        #expect(answer(at: 4_500) == .outdated)
    }

    /// Without stamps, only looks say when a moment began. A slow look at the whole file says nothing of a later one.
    @Test(arguments: [(30, 480), (40, 500)]) func aSlowLookAtTheWholeFile(_ whole: Int, _ rest: Int) {
        var presence = Presence()
        func answer(at milliseconds: Int) -> Presence.Answer {
            let time = FileStatus.Time(seconds: 1_000, nanoseconds: milliseconds * 1_000_000)
            return presence.answer(
                to: .init(
                    absence: .malformed, isKnown: true, changed: nil, begin: .milliseconds(milliseconds),
                    clock: time...time))
        }
        #expect(answer(at: 40) == .saving(.milliseconds(500)))
        presence.sawWhole(at: .milliseconds(whole))
        #expect(answer(at: 60) == .saving(.milliseconds(rest)))
    }

    /// The clock goes on during a look: its begin says how old a stamp is, and its end whether the stamp is in the future.
    @Test(arguments: [
        (100, 400), (199, 499), (200, 500), (300, 500), (600, 500), (620, 500), (621, 0), (-300, 0),
    ])
    func aLookHasTwoTimes(_ changed: Int, _ rest: Int) {
        func time(_ milliseconds: Int) -> FileStatus.Time {
            let since = 1_000_000 + milliseconds
            return FileStatus.Time(seconds: Int64(since / 1_000), nanoseconds: since % 1_000 * 1_000_000 + 7)
        }
        var presence = Presence()
        let answer = presence.answer(
            to: .init(
                absence: .malformed, isKnown: true, changed: time(changed), begin: .seconds(100),
                clock: time(200)...time(600)))
        #expect(answer == (rest == 0 ? .truth : .saving(.milliseconds(rest))))
    }

    /// What was whole a moment ago has changed since, whatever its stamp says, and however much of it is left.
    @Test(arguments: [Presence.Absence.empty, .malformed]) func nothingChangedBeforeItWasWhole(
        _ absence: Presence.Absence
    ) {
        var presence = Presence()
        let now = FileStatus.Time(seconds: 1_000, nanoseconds: 7)
        for (seconds, rest) in [(100, 490), (200, 480)] {
            presence.sawWhole(at: .seconds(seconds))
            let begin = Duration.seconds(seconds) + .milliseconds(500 - rest)
            let answer = presence.answer(
                to: .init(
                    absence: absence, isKnown: true, changed: FileStatus.Time(seconds: 900, nanoseconds: 7),
                    begin: begin,
                    clock: now...now))
            #expect(answer == .saving(.milliseconds(rest)))
        }
    }

    /// The change may be up to two seconds younger than its stamp.
    @Test(arguments: State.allCases) func aStampInWholeSeconds(_ state: State) throws {
        clock.hasWholeSeconds = true
        let prefs = try reader(Case(hasCopy: false))
        pass(.milliseconds(900))
        try disturb(state)
        for _ in 0..<state.window {
            #expect(prefs.ints == Self.known && prefs.outcome == "ok")
            pass(.milliseconds(1))
        }
        let ints = prefs.ints
        #expect(state == .cutOff ? prefs.outcome != "ok" : ints == [:])
    }

    // MARK: - Replaced by renaming

    /// While the file is read, another one takes its name. Each of them is whole, also if the former one has a new time.
    @Test(arguments: [0, 1]) func aFileThatIsReplacedWhileItIsReadIsReadAgain(_ elapsed: Int) throws {
        let prefs = try reader(Case())
        var number = 10
        clock.onRead = { [unowned self] in
            number += 1
            pass(.milliseconds(elapsed))
            #expect(throws: Never.self) {
                try Self.text(["a": number]).write(to: folder.file("new"))
                try replace()
            }
            if number == 20 { clock.onRead = nil }
        }
        try Self.text(["a": 9]).write(to: folder.file("new"))
        try replace()
        #expect(prefs.ints == ["a": 20] && prefs.outcome == "ok")
    }

    private func replace() throws {
        clock.stamp = clock.elapsed
        #expect(rename(folder.file("new").path, folder.file().path) == 0)
    }

    /// A new mode changes no bytes.
    @Test func aFileThatGetsANewModeWhileItIsReadIsReadAgain() throws {
        let prefs = try reader(Case())
        try complete(["a": 9])
        clock.onRead = { [unowned self] in
            clock.onRead = nil
            #expect(chmod(folder.file().path, 0o640) == 0)
        }
        #expect(prefs.ints == ["a": 9] && prefs.outcome == "ok")
    }

    /// A program that is writing in place is not read again and again.
    @Test func aFileThatIsWrittenWhileItIsReadIsBeingSaved() throws {
        let prefs = try reader(Case(hasCopy: false))
        try complete(["a": 9])
        var reads = 0
        clock.onRead = { [unowned self] in
            reads += 1
            pass(.milliseconds(1))
            #expect(throws: Never.self) { try complete(["a": reads]) }
        }
        #expect(prefs.ints == Self.known && prefs.outcome == "ok" && reads == 1)
        clock.onRead = nil
        #expect(prefs.ints == ["a": 1] && prefs.outcome == "ok")
    }

    /// A program that writes in place twice within some milliseconds, with no whole file between.
    @Test func manyStatesOfASaveInAShortTime() throws {
        let prefs = try reader(Case())
        for _ in 0..<20 {
            for state in [State.cutOff, .empty] {
                try disturb(state)
                #expect(prefs.ints == Self.known && prefs.outcome == "ok")
                pass(.milliseconds(1))
            }
        }
        try complete()
        #expect(prefs.ints["c"] == 7)
    }

    /// The state that there is no file is a state, too.
    @Test(arguments: [State.empty, .cutOff]) func aReadWaitsForNothingAfterItSawNoFile(_ state: State) throws {
        let prefs = try reader(Case(hasCopy: false))
        try disturb(.missing)
        pass(.seconds(1))
        #expect(prefs.ints == [:])
        try disturb(state)
        #expect(prefs.ints == [:] && prefs.outcome == "ok" && clock.pauses == 0)
        // A write waits.
        clock.onPause = { [unowned self] in #expect(throws: Never.self) { try complete() } }
        prefs["d"] = 1
        #expect(prefs.ints == ["a": 5, "b": 2, "c": 7, "d": 1] && clock.pauses == 1)
    }

    /// Such a write waits no longer than one to a known file.
    @Test func aWriteAfterNoFileWasSeenWaitsAsForAKnownFile() throws {
        let prefs = try reader(Case(hasCopy: false))
        try disturb(.missing)
        pass(.seconds(1))
        #expect(prefs.ints == [:])
        try disturb(.empty)
        prefs["d"] = 1
        #expect(prefs.ints == ["d": 1] && clock.pauses == 50)
    }

    /// Another process has made the file in the meantime, as its copy shows, and a program saves it now.
    @Test func aWriteAfterNoFileWasSeenAwaitsTheNextAbsence() throws {
        try make(Case())
        pass(.seconds(10))
        try disturb(.missing)
        let prefs = folder.root(system: clock)
        #expect(clock.pauses == 5)
        pass(.seconds(1))
        try disturb(.missing)
        prefs["d"] = 1
        #expect(prefs.ints == ["d": 1] && clock.pauses == 5 + 25)
    }

    /// The folder's time was set back, as some tools do. The time at which the file lost its name cannot be set.
    @Test func aFolderWithAnOldTime() throws {
        let prefs = try reader(Case())
        try disturb(.missing)
        clock.folderStamp = .seconds(50)
        #expect(prefs.ints == Self.known)
        pass(.milliseconds(250))
        #expect(prefs.ints == [:])
    }

    /// A process that starts in a busy folder waits once, too.
    @Test func aBusyFolderIsNoReasonToWaitAgain() throws {
        try make(Case())
        pass(.seconds(10))
        try disturb(.missing)
        clock.onPause = { [unowned self] in clock.stamp = clock.elapsed }
        let prefs = folder.root(system: clock)
        #expect(prefs.ints == [:] && clock.pauses == 5)
    }

    /// In a window, the bytes of half a file are read once.
    @Test func theSameBytesAreNotReadAgain() throws {
        let prefs = try reader(Case())
        try disturb(.cutOff)
        var reads = 0
        clock.onRead = { reads += 1 }
        for _ in 0..<10 { #expect(prefs.ints == Self.known) }
        #expect(reads <= 2, "of the file and of its copy")
    }

    // MARK: - Threads

    /// While one thread looks for a stand-in, another one reads the file that is whole again.
    @Test func aSlowThreadBringsBackNoOlderState() throws {
        let prefs = try reader(Case(hasCopy: false))
        try disturb(.missing)
        clock.inComparison = { [unowned self] in
            #expect(throws: Never.self) { try complete() }
            inThreads(1) { _ in #expect(prefs.ints["c"] == 7) }
        }
        #expect(prefs.ints == Self.known, "its look was before")
        pass(.seconds(1))
        try disturb(.missing)
        #expect(prefs.ints["c"] == 7)
    }

    /// Of two looks that overlap, the slower one ends last.
    @Test func aSlowLookBringsBackNoOlderState() throws {
        let prefs = try reader(Case())
        let file = try prefs.location.withFile { $0 }
        let (older, time) = (try #require(file.cache.newest), clock.elapsed)
        pass(.milliseconds(1))
        try complete()
        #expect(prefs.ints["c"] == 7)
        file.cache.publish(older, at: time)
        try disturb(.missing)
        #expect(prefs.ints["c"] == 7)
    }

    @Test func aSlowLookBringsBackNoFileThatThisProgramHasRemoved() throws {
        let prefs = try reader(Case())
        let file = try prefs.location.withFile { $0 }
        let (older, time) = (try #require(file.cache.newest), clock.elapsed)
        pass(.milliseconds(1))
        try disturb(.missing)
        file.cache.noteRemoval()
        file.cache.publish(older, at: time)
        #expect(prefs.ints == [:] && prefs.outcome == "ok")
    }

    /// A look that began before another thread saw the whole file says nothing.
    @Test func aLookThatIsOutdatedIsMadeAgain() {
        var presence = Presence()
        func time(_ milliseconds: Int) -> FileStatus.Time {
            FileStatus.Time(seconds: 1_000, nanoseconds: milliseconds * 1_000_000)
        }
        func look(at begin: Int, since changed: Int? = nil) -> Presence.Look {
            .init(
                absence: .missing, isKnown: true, changed: time(changed ?? begin), begin: .milliseconds(begin),
                clock: time(begin)...time(begin))
        }
        presence.sawWhole(at: .milliseconds(10))
        #expect(presence.answer(to: look(at: 9)) == .outdated)
        #expect(presence.answer(to: look(at: 10)) == .saving(.milliseconds(250)))
        presence.sawWhole(at: .milliseconds(20))
        #expect(presence.answer(to: look(at: 40)) == .saving(.milliseconds(250)), "it is another absence")
        #expect(presence.answer(to: look(at: 60, since: 40)) == .saving(.milliseconds(230)))
        presence.sawWhole(at: .milliseconds(30))
        #expect(presence.answer(to: look(at: 80, since: 40)) == .saving(.milliseconds(210)), "it is the same absence")
    }
}
