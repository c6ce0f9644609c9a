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
    /// A clock that only the test and pauses advance. Real files get its stamps.
    private final class Clock: SystemCalls, @unchecked Sendable {
        /// Since the program has started.
        nonisolated(unsafe) var elapsed = Duration.seconds(100)
        /// When the file or its folder changed, by the clock of stamps.
        nonisolated(unsafe) var stamp = Duration.zero
        /// How far the stamps are behind the clock of the day (kernels before 6.13), or ahead of it (a former clock).
        nonisolated(unsafe) var lag = Duration.zero
        nonisolated(unsafe) var isServer = false
        nonisolated(unsafe) var onPause: (() -> Void)?
        nonisolated(unsafe) var pauses = 0
        /// Called after each call that reads a file.
        nonisolated(unsafe) var onRead: (() -> Void)?
        /// The time of folders; nil for that of files.
        nonisolated(unsafe) var folderStamp: Duration?
        /// Called once, when a stand-in is compared with the last good copy.
        nonisolated(unsafe) var inComparison: (() -> Void)?
        nonisolated(unsafe) var locks = 0

        private static func time(_ duration: Duration) -> FileStatus.Time {
            let nanoseconds = Int64(duration / .nanoseconds(1)) + 1_000_000_000 * 1_000_000_000 + 7
            return FileStatus.Time(
                seconds: nanoseconds / 1_000_000_000, nanoseconds: Int(nanoseconds % 1_000_000_000))
        }

        private func stamped(_ status: FileStatus) -> FileStatus {
            var status = status
            let stamp = status.kind == .folder ? folderStamp ?? stamp : stamp
            (status.modified, status.changed) = (Self.time(stamp - lag), Self.time(stamp - lag))
            return status
        }

        override func status(of descriptor: Descriptor) throws(StorageFailure) -> FileStatus {
            stamped(try super.status(of: descriptor))
        }

        override func status(
            ofPath name: String, in folder: Descriptor, followsLinks: Bool
        ) throws(StorageFailure) -> FileStatus? {
            if name.hasSuffix(".lastgood"), let action = inComparison {
                inComparison = nil
                action()
            }
            return try super.status(ofPath: name, in: folder, followsLinks: followsLinks).map(stamped)
        }

        /// Closes on this thread, because another one would read the clock while the test sets it.
        override func closeReplaced(_ descriptor: Descriptor, _ opened: FileStatus) { close(descriptor) }

        override func now() -> FileStatus.Time { Self.time(elapsed) }
        override func nextStamp() -> FileStatus.Time { Self.time(elapsed - lag) }
        override func uptime() -> Duration { elapsed }
        override func tellsOfChanges(inFolder path: String) -> Bool { !isServer }
        override func tellsOfReplacement(_ descriptor: Descriptor) -> Bool { !isServer }

        override func read(
            _ descriptor: Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
        ) throws(StorageFailure) -> Int {
            defer { onRead?() }
            return try super.read(descriptor, into: buffer, at: offset)
        }

        override func pause() {
            pauses += 1
            elapsed += .milliseconds(10)
            onPause?()
        }

        override func lock(_ descriptor: Descriptor, waits: Bool) throws(StorageFailure) {
            locks += 1
            try super.lock(descriptor, waits: waits)
        }

        override func unlock(_ descriptor: Descriptor) {
            locks -= 1
            super.unlock(descriptor)
        }
    }

    private let clock = Clock()

    enum State: CaseIterable {
        case missing, empty, cutOff

        /// In milliseconds.
        var window: Int { self == .cutOff ? 500 : 50 }
    }

    struct Case: CustomTestStringConvertible {
        var state = State.missing
        var hasCopy = true
        var lag = 0

        var testDescription: String { "\(state), \(hasCopy ? "with" : "without") a copy, stamps \(lag) ms behind" }

        /// Kernels stamp with the time of the last tick, up to 10 ms ago, or with a fine clock.
        static let all = State.allCases.flatMap { state in
            [true, false].flatMap { hasCopy in
                [0, 10].map { Case(state: state, hasCopy: hasCopy, lag: $0) }
            }
        }
    }

    private static let known = ["a": 1, "b": 2]
    private static func text(_ ints: [String: Int]) throws -> Data {
        try PropertyListCoder.encode(plain: ["Root": ints], as: .xml)
    }

    /// A file as the last good copy or a person has left it. Its folder changed long ago.
    private func make(_ test: Case) throws {
        let prefs = FileRoot(folder.file().path, format: .xml, system: SystemCalls())
        prefs.values = Self.known
        if !test.hasCopy { try FileManager.default.removeItem(at: folder.file(".test.plist.lastgood")) }
        clock.lag = .milliseconds(test.lag)
    }

    /// A program that knows the file; nothing has happened for ten seconds.
    private func reader(_ test: Case) throws -> FileRoot {
        try make(test)
        let prefs = folder.root(system: clock)
        #expect(prefs.ints == Self.known)
        pass(.seconds(10))
        return prefs
    }

    private func pass(_ time: Duration) { clock.elapsed += time }

    /// Another program begins to save the file.
    private func disturb(_ state: State, ago: Duration = .zero) throws {
        clock.stamp = clock.elapsed - ago
        switch state {
        case .missing: try? FileManager.default.removeItem(at: folder.file())
        case .empty: try write(Data())
        case .cutOff: try write(Self.text(["a": 5]).dropLast(30))
        }
    }

    /// Another program completes its save.
    private func complete(_ ints: [String: Int] = ["a": 5, "b": 2, "c": 7]) throws {
        clock.stamp = clock.elapsed
        try write(Self.text(ints))
    }

    private func write(_ bytes: Data) throws { try bytes.write(to: folder.file()) }

    // MARK: - A process that knows the file

    @Test(arguments: Case.all) func readsGiveTheKnownStateForTheWindow(_ test: Case) throws {
        let prefs = try reader(test)
        try disturb(test.state)
        for _ in 0..<test.state.window / 10 {
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
        clock.onPause = { [self] in
            #expect(clock.locks == 0)
            if clock.pauses == 3 { #expect(throws: Never.self) { try complete() } }
        }
        if isUpdate { prefs.update { prefs["a"] = 6 } } else { prefs["a"] = 6 }
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 6, "b": 2, "c": 7])
        #expect(clock.pauses == 3)
        #expect(try folder.quarantined == [])
    }

    /// The truth: what is missing is made with the keys of the write, and what was known is kept.
    @Test(arguments: Case.all) func aWriteAfterTheWindowKeepsWhatWasKnown(_ test: Case) throws {
        let prefs = try reader(test)
        try disturb(test.state)
        prefs["d"] = 6
        #expect(clock.pauses == test.state.window / 10)
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
        pass(.milliseconds(49))
        try disturb(state, ago: .seconds(1_000))
        #expect(prefs.ints == Self.known && prefs.outcome == "ok")
        // Seen whole too long ago.
        try complete(Self.known)
        #expect(prefs.ints == Self.known)
        pass(.milliseconds(50))
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
        pass(.milliseconds(49))
        try disturb(.missing, ago: .seconds(1_000))
        #expect(prefs.ints == Self.known && prefs.outcome == "ok")
    }

    /// Observers are told of nothing, and look again at the end of the window.
    @Test(arguments: Case.all) func anObserverLooksAgain(_ test: Case) throws {
        let prefs = try reader(test)
        try disturb(test.state)
        for time in [test.state.window, 1] {
            let look = try prefs.location.withFile { try $0.committedState(waits: false) }
            #expect(look.isBeingSaved && look.fault == nil && look.next == .milliseconds(time))
            #expect(look.content?["Root"]?.dictionary?.objects as? [String: Int] == Self.known)
            pass(.milliseconds(max(1, time - 1)))
        }
        #expect(try !prefs.location.withFile { try $0.committedState(waits: false) }.isBeingSaved)
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

    /// The first look begins the window, not the change.
    @Test func aLateFirstLook() throws {
        let prefs = try reader(Case())
        try disturb(.missing, ago: .milliseconds(49))
        #expect(prefs.ints == Self.known)
        pass(.milliseconds(49))
        #expect(prefs.ints == Self.known)
        pass(.milliseconds(1))
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

    /// The process was stopped in the window.
    @Test func aProcessThatWasStopped() throws {
        let prefs = try reader(Case())
        try disturb(.missing)
        #expect(prefs.ints == Self.known)
        pass(.seconds(10))
        #expect(prefs.ints == [:])
    }

    /// The time in which it was stopped does not count as waited for.
    @Test func aProcessThatWasStoppedDuringASaveThatGoesOn() throws {
        let prefs = try reader(Case())
        try disturb(.missing)
        #expect(prefs.ints == Self.known)
        pass(.seconds(10))
        try disturb(.cutOff)
        #expect(prefs.ints == Self.known && prefs.outcome == "ok")
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

    /// A program that writes slowly: first nothing, then a part, then all.
    @Test func eachStateOfASaveHasItsOwnWindow() throws {
        let prefs = try reader(Case())
        for state in [State.missing, .empty, .cutOff] {
            try disturb(state)
            #expect(prefs.ints == Self.known && prefs.outcome == "ok", "\(state)")
            pass(.milliseconds(state.window - 1))
            #expect(prefs.ints == Self.known && prefs.outcome == "ok", "\(state)")
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
        for time in [49, 1] {
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
        let pauses = test.state != .missing ? 50 : test.hasCopy ? 5 : 0
        #expect(clock.pauses == pauses)
        for _ in 0..<3 { _ = prefs.ints }
        #expect(clock.pauses == pauses)
    }

    @Test(arguments: [State.empty, .cutOff]) func aProcessThatStartsReadsWhatItHasWaitedFor(_ state: State) throws {
        try make(Case())
        try disturb(state)
        clock.onPause = { [self] in #expect(throws: Never.self) { try complete() } }
        let prefs = folder.root(system: clock)
        #expect(prefs.ints == ["a": 5, "b": 2, "c": 7] && prefs.outcome == "ok" && clock.pauses == 1)
    }

    /// Observers wait, too, because they have nothing to begin with.
    @Test(arguments: [State.empty, .cutOff]) func aSubscriptionWaitsForTheFile(_ state: State) throws {
        try make(Case())
        try disturb(state)
        clock.onPause = { [self] in #expect(throws: Never.self) { try complete() } }
        let location = FileLocation(path: folder.file().path, system: clock)
        let look = try location.withFile { try $0.committedState(waits: true) }
        #expect(look.content?["Root"]?.dictionary?.objects as? [String: Int] == ["a": 5, "b": 2, "c": 7])
        #expect(!look.isBeingSaved && clock.pauses == 1)
    }

    /// The limits of waits are for writes.
    @Test func aReadHasNoTimeout() throws {
        try make(Case())
        try disturb(.cutOff)
        clock.onPause = { [self] in #expect(throws: Never.self) { try complete() } }
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

    // MARK: - Replaced by renaming

    /// While the file is read, another one takes its name. Each of them is whole, also if the former one has a new time.
    @Test(arguments: [0, 1]) func aFileThatIsReplacedWhileItIsReadIsReadAgain(_ elapsed: Int) throws {
        let prefs = try reader(Case())
        var number = 10
        clock.onRead = { [self] in
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
        clock.onRead = { [self] in
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
        clock.onRead = { [self] in
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
        clock.onPause = { [self] in #expect(throws: Never.self) { try complete() } }
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
        #expect(prefs.ints == ["d": 1] && clock.pauses == 5)
    }

    /// The folder's time was set back, as some tools do. The time at which the file lost its name cannot be set.
    @Test func aFolderWithAnOldTime() throws {
        let prefs = try reader(Case())
        try disturb(.missing)
        clock.folderStamp = .seconds(50)
        #expect(prefs.ints == Self.known)
        pass(.milliseconds(50))
        #expect(prefs.ints == [:])
    }

    /// A process that starts in a busy folder waits once, too.
    @Test func aBusyFolderIsNoReasonToWaitAgain() throws {
        try make(Case())
        pass(.seconds(10))
        try disturb(.missing)
        clock.onPause = { [self] in clock.stamp = clock.elapsed }
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
        clock.inComparison = { [self] in
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
        let (older, time) = (try #require(file.cached), clock.elapsed)
        pass(.milliseconds(1))
        try complete()
        #expect(prefs.ints["c"] == 7)
        file.publish(older, at: time)
        try disturb(.missing)
        #expect(prefs.ints["c"] == 7)
    }

    @Test func aSlowLookBringsBackNoFileThatThisProgramHasRemoved() throws {
        let prefs = try reader(Case())
        let file = try prefs.location.withFile { $0 }
        let (older, time) = (try #require(file.cached), clock.elapsed)
        pass(.milliseconds(1))
        try disturb(.missing)
        file.noteRemoval()
        file.publish(older, at: time)
        #expect(prefs.ints == [:] && prefs.outcome == "ok")
    }

    /// A look that began before another thread saw the whole file says nothing.
    @Test func aLookThatIsOutdatedIsMadeAgain() {
        var presence = FileLocation.Presence()
        func look(at begin: Int) -> FileLocation.Presence.Look {
            let time = FileStatus.Time(seconds: 1_000, nanoseconds: begin * 1_000_000)
            return .init(
                absence: .missing, isKnown: true, changed: time, isUnstamped: false, begin: .milliseconds(begin),
                clock: time...time)
        }
        presence.sawWhole(at: .milliseconds(10))
        #expect(presence.answer(to: look(at: 9)) == .outdated)
        #expect(presence.answer(to: look(at: 10)) == .saving(.milliseconds(50)))
        #expect(presence.answer(to: look(at: 40)) == .saving(.milliseconds(20)))
        presence.sawWhole(at: .milliseconds(20))
        #expect(presence.answer(to: look(at: 40)) == .saving(.milliseconds(50)), "it is another absence")
        presence.sawWhole(at: .milliseconds(30))
        #expect(presence.answer(to: look(at: 60)) == .saving(.milliseconds(30)), "it is the same absence")
    }
}
