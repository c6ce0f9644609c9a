import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// What an access does in the moment in which another program saves the file: each state × each access × with and without
/// a last good copy × known or not × coarse and fine stamps. The clock is the test's own; `SaverTests` has the real one.
@Suite final class PresenceTests: FolderSuite {
    let clock = PresenceClock()

    enum State: CaseIterable {
        case missing, empty, cutOff

        /// In milliseconds.
        var window: Int { self == .missing ? 250 : 500 }
    }

    struct Case: CustomTestStringConvertible {
        var state = State.missing
        var hasCopy = true
        var lag = 0

        /// How long a save that begins now is awaited, in milliseconds: its stamp may be of the last tick.
        var window: Int { state.window - lag }

        var testDescription: String { "\(state), \(hasCopy ? "with" : "without") a copy, stamps \(lag) ms behind" }

        /// Kernels stamp with the time of the last tick, up to 10 ms ago, or with a fine clock.
        static let all = State.allCases.flatMap { state in
            [true, false].flatMap { hasCopy in
                [0, 10].map { Case(state: state, hasCopy: hasCopy, lag: $0) }
            }
        }
    }

    static let known = ["a": 1, "b": 2]
    static func text(_ ints: [String: Int]) throws -> Data {
        try PropertyListCoder.encode(plain: ["Root": ints], as: .plainXML)
    }

    /// A file as the last good copy or a person has left it. Its folder changed long ago.
    func make(_ test: Case) throws {
        let prefs = FileRoot(folder.file().path, format: .plainXML, system: SystemCalls())
        prefs.values = Self.known
        if !test.hasCopy { try FileManager.default.removeItem(at: folder.file(".test.plist.lastgood")) }
        clock.lag = .milliseconds(test.lag)
    }

    /// A program that knows the file; nothing has happened for ten seconds.
    func reader(_ test: Case) throws -> FileRoot {
        try make(test)
        let prefs = folder.root(system: clock)
        #expect(prefs.ints == Self.known)
        pass(.seconds(10))
        return prefs
    }

    func pass(_ time: Duration) { clock.elapsed += time }

    /// Another program begins to save the file.
    func disturb(_ state: State, ago: Duration = .zero) throws {
        clock.stamp = clock.elapsed - ago
        switch state {
        case .missing: try? FileManager.default.removeItem(at: folder.file())
        case .empty: try write(Data())
        case .cutOff: try write(Self.text(["a": 5]).dropLast(30))
        }
    }

    /// Another program completes its save.
    func complete(_ ints: [String: Int] = ["a": 5, "b": 2, "c": 7]) throws {
        clock.stamp = clock.elapsed
        try write(Self.text(ints))
    }

    func write(_ bytes: Data) throws { try bytes.write(to: folder.file()) }

    // MARK: - A process that knows the file

    @Test(arguments: Case.all) func readsGiveTheKnownStateForTheWindow(_ test: Case) throws {
        let prefs = try reader(test)
        try disturb(test.state)
        for _ in 0..<test.window / 10 {
            #expect(prefs.ints == Self.known && prefs.outcome == "ok")
            pass(.milliseconds(10))
        }
        let isKnown = test.state != .missing && test.hasCopy || test.state == .cutOff
        #expect((prefs.ints == Self.known) == isKnown, "\(prefs.ints)")
        #expect((prefs.outcome == "ok") == !isKnown, "\(prefs.outcome)")
        #expect(clock.pauses == 0, "a read never waits")
        try complete()
        #expect(prefs.ints == ["a": 5, "b": 2, "c": 7] && prefs.outcome == "ok")
    }

    /// A write that first reads what it changes, and one that begins with the lock.
    @Test(arguments: Case.all, [false, true]) func aWriteWaitsWithoutTheLock(_ test: Case, isUpdate: Bool) throws {
        let prefs = try reader(test)
        try disturb(test.state)
        clock.onPause = { [unowned self] in
            #expect(clock.locks == 0)
            if clock.pauses == 3 { #expect(throws: Never.self) { try complete() } }
        }
        if isUpdate { prefs.update { prefs["a"] = 6 } } else { prefs["a"] = 6 }
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 6, "b": 2, "c": 7])
        // A file that was written in place has to be quiet for 50 ms.
        #expect(clock.pauses == (test.state == .missing ? 3 : 8 - test.lag / 10))
        #expect(try folder.quarantined == [])
    }

    /// The truth: what is missing is made with the keys of the write, and what was known is kept.
    @Test(arguments: Case.all) func aWriteAfterTheWindowKeepsWhatWasKnown(_ test: Case) throws {
        let prefs = try reader(test)
        try disturb(test.state)
        prefs["d"] = 6
        #expect(clock.pauses == test.window / 10)
        if !test.hasCopy, test.state == .cutOff {
            #expect(prefs.outcome.hasPrefix("not ours: "))
            return
        }
        let isKnown = test.state != .missing && test.hasCopy
        #expect(prefs.ints == (isKnown ? Self.known.merging(["d": 6]) { $1 } : ["d": 6]))
        #expect(prefs.errors.last?.isWarning == true)
        #expect(try folder.quarantined.count == 1)
        if test.state == .missing {
            let bytes = try Data(contentsOf: folder.file("test.plist.corrupt-missing"))
            #expect(try propertyList(from: CheckedCopy.bytes(of: bytes))["Root"] as? [String: Int] == Self.known)
        }
    }

    @Test(arguments: State.allCases) func theTimeoutOfAnUpdateEndsTheWait(_ state: State) throws {
        let prefs = try reader(Case(state: state))
        try disturb(state)
        var error: FileError?
        do {
            try LockWait.within(.zero) { try prefs.location.transact(durability: .process) { _ in } }
        } catch let failure as FileError {
            error = failure
        }
        let path = folder.file().path
        #expect(error?.text == "busy: \(path): another program is still saving it after 0 s")
        #expect(clock.pauses == 0)
    }

    /// A process whose clock does not agree with the stamps, as on a server, or after the clock was set.
    @Test(arguments: State.allCases) func theClockOfTheStampsIsNotNeeded(_ state: State) throws {
        let prefs = try reader(Case(state: state))
        clock.isServer = true
        try complete(Self.known)
        #expect(prefs.ints == Self.known)
        pass(.milliseconds(249))
        try disturb(state, ago: .seconds(1_000))
        #expect(prefs.ints == Self.known && prefs.outcome == "ok")
        // Seen whole too long ago.
        try complete(Self.known)
        #expect(prefs.ints == Self.known)
        pass(.milliseconds(250))
        try disturb(.missing)
        #expect(prefs.ints == [:])
    }

    /// A read of a cached value looks at the file, too.
    @Test func theCacheNotesThatTheFileWasWhole() throws {
        let prefs = try reader(Case())
        clock.isServer = true
        try complete(Self.known)
        for _ in 0..<2 {
            #expect(prefs.ints == Self.known)
            pass(.seconds(1))
        }
        #expect(prefs.location.revision != nil)
        pass(.milliseconds(249))
        try disturb(.missing, ago: .seconds(1_000))
        #expect(prefs.ints == Self.known && prefs.outcome == "ok")
    }

    /// Observers are told of nothing, and look again at the end of the window.
    @Test(arguments: Case.all) func anObserverLooksAgain(_ test: Case) throws {
        let prefs = try reader(test)
        try disturb(test.state)
        for time in [test.window, 1] {
            let look = try prefs.location.withFile { try $0.committedState(waits: false) }
            #expect(look.isDuringSave && look.warning == nil && look.nextLook == .milliseconds(time))
            #expect(look.content?["Root"]?.dictionary?.objects as? [String: Int] == Self.known)
            pass(.milliseconds(max(1, time - 1)))
        }
        #expect(try !prefs.location.withFile { try $0.committedState(waits: false) }.isDuringSave)
    }

    /// A process that uses the package writes the copy after it has replaced the file, so the file may be good by now.
    @Test func aCopyThatIsBeingWrittenIsAwaited() throws {
        let prefs = try reader(Case())
        let copy = folder.file(".test.plist.lastgood")
        clock.stamp = clock.elapsed
        try write(Data("hello".utf8))
        try Data(contentsOf: copy).dropLast(5).write(to: copy)
        for time in [499, 1] {
            #expect(prefs.ints == Self.known && prefs.outcome == "ok")
            pass(.milliseconds(time))
        }
        #expect(prefs.ints == Self.known && prefs.outcome.hasPrefix("damaged: "), "\(prefs.outcome)")
    }

    // MARK: - A window brings back nothing that was deleted

    /// The age of a stamp counts from its own time, also if that is behind the clock of the day.
    @Test(arguments: State.allCases, [0, 10]) func whatHappenedLongAgoIsTheTruth(_ state: State, _ lag: Int) throws {
        let prefs = try reader(Case(state: state, hasCopy: false, lag: lag))
        try disturb(state, ago: .milliseconds(state.window - lag))
        let ints = prefs.ints
        #expect(state == .cutOff ? prefs.outcome != "ok" : ints == [:])
    }

    /// 20 ms later than the clock of the day is a step between two clocks; more says that the clock was set back.
    @Test(arguments: [(-20, true), (-21, false)]) func aStampInTheFuture(_ ago: Int, _ isKnown: Bool) throws {
        let prefs = try reader(Case())
        try disturb(.missing, ago: .milliseconds(ago))
        #expect((prefs.ints == Self.known) == isKnown)
    }

    /// The change begins the window, not the first look.
    @Test func aLateFirstLook() throws {
        let prefs = try reader(Case())
        try disturb(.missing, ago: .milliseconds(200))
        for time in [49, 1] {
            #expect(prefs.ints == Self.known)
            pass(.milliseconds(time))
        }
        #expect(prefs.ints == [:])
    }

    @Test func twoSavesWithoutALookBetweenThem() throws {
        let prefs = try reader(Case(hasCopy: false))
        for _ in 0..<10 {
            try disturb(.missing)
            #expect(prefs.ints == Self.known)
            try complete(["a": 9])
            pass(.seconds(10))
        }
        #expect(prefs.ints == ["a": 9])
    }

    /// The process was stopped in the window. If the save goes on, that time does not count as waited for.
    @Test(arguments: [false, true]) func aProcessThatWasStopped(_ goesOn: Bool) throws {
        let prefs = try reader(Case())
        try disturb(.missing)
        #expect(prefs.ints == Self.known)
        pass(.seconds(10))
        if goesOn { try disturb(.cutOff) }
        #expect(prefs.ints == (goesOn ? Self.known : [:]) && prefs.outcome == "ok")
    }

    @Test func eachSaveHasItsOwnWindows() throws {
        let prefs = try reader(Case())
        for _ in 0..<30 {
            try disturb(.missing)
            #expect(prefs.ints == Self.known)
            pass(.milliseconds(49))
            #expect(prefs.ints == Self.known)
            try complete(Self.known)
            #expect(prefs.ints == Self.known)
            pass(.seconds(1))
        }
    }

    /// Other names in the folder come and go. In all, the windows last a second.
    @Test func aBusyFolderEndsTheWindowsWithinASecond() throws {
        let prefs = try reader(Case())
        try disturb(.missing)
        var reads = 0
        while prefs.ints == Self.known, reads < 1_000 {
            reads += 1
            pass(.milliseconds(5))
            clock.stamp = clock.elapsed
        }
        #expect(reads == 200)
        prefs["d"] = 1
        #expect(prefs.ints == ["d": 1] && clock.pauses == 0)
    }

    /// Two states in turn, each with a stamp of its own: one program removes the file and another one writes parts of it. In
    /// all, the windows last a second.
    @Test(arguments: [[State.missing, .cutOff], [.cutOff, .missing], [.empty, .cutOff]])
    func statesInTurnEndTheWindowsWithinASecond(_ states: [State]) throws {
        let prefs = try reader(Case())
        var reads = 0
        func goesOn() throws -> Bool {
            try disturb(states[reads % 2])
            return prefs.ints == Self.known && prefs.outcome == "ok"
        }
        while try goesOn(), reads < 1_000 {
            reads += 1
            pass(.milliseconds(5))
        }
        #expect(reads == 200)
    }

    /// A program that writes slowly: first nothing, then a part, then all. In all, a second.
    @Test func eachStateOfASaveHasItsOwnWindow() throws {
        let prefs = try reader(Case())
        for state in [State.missing, .empty, .cutOff] {
            try disturb(state)
            for _ in 0..<4 {
                #expect(prefs.ints == Self.known && prefs.outcome == "ok", "\(state)")
                pass(.milliseconds((state.window - 1) / 4))
            }
            if state == .empty { clock.elapsed -= .milliseconds(250) }
        }
        try complete()
        #expect(prefs.ints["c"] == 7)
    }

    /// Without stamps, what is seen shows that the save goes on.
    @Test func eachStateOfASaveOnAServerHasItsOwnWindow() throws {
        let prefs = try reader(Case())
        clock.isServer = true
        try complete(Self.known)
        #expect(prefs.ints == Self.known)
        pass(.milliseconds(10))
        try disturb(.missing)
        #expect(prefs.ints == Self.known && prefs.outcome == "ok")
        pass(.milliseconds(30))
        try disturb(.empty)
        for time in [499, 1] {
            #expect(prefs.ints == Self.known && prefs.outcome == "ok")
            pass(.milliseconds(time))
        }
        #expect(prefs.ints == Self.known && prefs.outcome != "ok")
    }

    // MARK: - A process that has not read the file

    /// It waits, once, for a missing file with a copy, and for the end of a file.
    @Test(arguments: Case.all) func aProcessThatStartsWaitsOnce(_ test: Case) throws {
        try make(test)
        pass(.seconds(10))
        try disturb(test.state)
        let prefs = folder.root(system: clock)
        let pauses = test.state != .missing ? test.window / 10 : test.hasCopy ? 5 - test.lag / 10 : 0
        #expect(clock.pauses == pauses)
        for _ in 0..<3 { _ = prefs.ints }
        #expect(clock.pauses == pauses)
    }

    @Test(arguments: [State.empty, .cutOff]) func aProcessThatStartsReadsWhatItHasWaitedFor(_ state: State) throws {
        try make(Case())
        try disturb(state)
        clock.onPause = { [unowned self] in #expect(throws: Never.self) { try complete() } }
        let prefs = folder.root(system: clock)
        #expect(prefs.ints == ["a": 5, "b": 2, "c": 7] && prefs.outcome == "ok" && clock.pauses == 1)
    }

    /// Observers wait, too, because they have nothing to begin with.
    @Test(arguments: [State.empty, .cutOff]) func aSubscriptionWaitsForTheFile(_ state: State) throws {
        try make(Case())
        try disturb(state)
        clock.onPause = { [unowned self] in #expect(throws: Never.self) { try complete() } }
        let location = FileLocation(path: folder.file().path, system: clock)
        let look = try location.withFile { try $0.committedState(waits: true) }
        #expect(look.content?["Root"]?.dictionary?.objects as? [String: Int] == ["a": 5, "b": 2, "c": 7])
        #expect(!look.isDuringSave && clock.pauses == 1)
    }

    /// The limits of waits are for writes.
    @Test func aReadHasNoTimeout() throws {
        try make(Case())
        try disturb(.cutOff)
        clock.onPause = { [unowned self] in #expect(throws: Never.self) { try complete() } }
        let location = FileLocation(path: folder.file().path, system: clock)
        let content = try LockWait.within(.zero) { try location.read().content }
        #expect(content?["Root"]?.dictionary?.objects as? [String: Int] == ["a": 5, "b": 2, "c": 7])
        #expect(clock.pauses == 1)
    }

    /// A file system may show the new size of a file before its new time. Here it shows the old time for good, as one with
    /// stamps of whole seconds may.
    @Test(arguments: [State.empty, .cutOff]) func aNewSizeWithTheOldTime(_ state: State) throws {
        let prefs = try reader(Case(state: state, hasCopy: false))
        try disturb(state, ago: .seconds(110))
        clock.stamp = .zero
        #expect(prefs.ints == Self.known && prefs.outcome == "ok")
        pass(.milliseconds(state.window - 1))
        #expect(prefs.ints == Self.known && prefs.outcome == "ok")
        pass(.milliseconds(1))
        let ints = prefs.ints
        #expect(state == .cutOff ? prefs.outcome != "ok" : ints == [:])
    }
}
