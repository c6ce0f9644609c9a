import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// A whole file that another program changes in place: what a write stores may be half of a save.
extension PresenceTests {
    /// A program that knows the file, and has no copy to compare.
    private func readerOfAChange() throws -> FileRoot {
        let prefs = try reader(Case(hasCopy: false))
        clock.onPause = { [unowned self] in #expect(clock.locks == 0) }
        return prefs
    }

    /// Another program changes the file in each of these pauses.
    private func changeInPauses(_ isChanged: @escaping (Int) -> Bool) {
        clock.onPause = { [unowned self] in
            #expect(clock.locks == 0)
            if isChanged(clock.pauses) { #expect(throws: Never.self) { try complete(["a": clock.pauses]) } }
        }
    }

    // MARK: - The wait

    /// A write that first reads what it changes, and one that begins with the lock. It does not matter who looks first.
    @Test(arguments: [false, true], [false, true])
    func aChangeInPlaceIsReadAtOnceAndAwaitedByAWrite(_ isRead: Bool, _ isUpdate: Bool) throws {
        let prefs = try readerOfAChange()
        try complete(["a": 5])
        if isRead { #expect(prefs.ints == ["a": 5] && prefs.outcome == "ok" && clock.pauses == 0) }
        pass(.milliseconds(20))
        if isUpdate { prefs.update { prefs["d"] = 1 } } else { prefs["d"] = 1 }
        #expect(prefs.outcome == "ok" && clock.pauses == 3)
        #expect(prefs.ints == ["a": 5, "d": 1])
        prefs["d"] = 2
        #expect(prefs.outcome == "ok" && clock.pauses == 3, "the next one does not wait")
    }

    @Test(arguments: [(49, 1), (50, 0), (51, 0)]) func aChangeIsAwaitedFor50Milliseconds(_ ago: Int, _ pauses: Int)
        throws
    {
        let prefs = try readerOfAChange()
        try complete(["a": 5])
        pass(.milliseconds(ago))
        prefs["d"] = 1
        #expect(prefs.ints == ["a": 5, "d": 1] && clock.pauses == pauses)
    }

    /// The stamp may be of the last tick.
    @Test func aChangeIsAsOldAsItsStamp() throws {
        let prefs = try readerOfAChange()
        clock.lag = .milliseconds(10)
        try complete(["a": 5])
        prefs["d"] = 1
        #expect(prefs.ints == ["a": 5, "d": 1] && clock.pauses == 4)
    }

    /// Each change prolongs the wait, and the write begins from the last one.
    @Test func aWriteBeginsFromTheLastChange() throws {
        let prefs = try readerOfAChange()
        try complete(["a": 5])
        changeInPauses { [3, 7].contains($0) }
        prefs["d"] = 1
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 7, "d": 1] && clock.pauses == 7 + 5)
    }

    /// A program that changes the file without an end delays one write by a second, and no later one, until the file
    /// was quiet once.
    @Test(arguments: [(49, 0), (50, 5)]) func changesWithoutAnEnd(_ quiet: Int, _ pauses: Int) throws {
        let prefs = try readerOfAChange()
        try complete(["a": 0])
        changeInPauses { $0.isMultiple(of: 4) && $0 < 200 }
        prefs["d"] = 1
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 100, "d": 1] && clock.pauses == 100)
        clock.onPause = nil
        clock.pauses = 0
        for number in 1...30 {
            pass(.milliseconds(40))
            try complete(["a": number])
            prefs["d"] = 1
            #expect(prefs.outcome == "ok" && prefs.ints == ["a": number, "d": 1] && clock.pauses == 0)
        }
        pass(.milliseconds(quiet))
        try complete(["a": 40])
        prefs["d"] = 1
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 40, "d": 1] && clock.pauses == pauses)
    }

    /// On a busy machine, a pause takes longer than the file is quiet.
    @Test func changesWithoutAnEndOnABusyMachine() throws {
        let prefs = try readerOfAChange()
        try complete(["a": 0])
        let start = clock.elapsed
        clock.onPause = { [unowned self] in
            pass(.milliseconds(50))
            // The last of the changes, one every 40 ms.
            let ago = Int((clock.elapsed - start) / .milliseconds(1)) % 40
            #expect(throws: Never.self) { try complete(["a": clock.pauses]) }
            clock.stamp -= .milliseconds(ago)
            if clock.pauses == 100 { clock.onPause = nil }
        }
        prefs["d"] = 1
        #expect(prefs.outcome == "ok" && prefs.ints == ["a": 17, "d": 1] && clock.pauses == 17)
    }

    /// Of two writes that wait, the one that came first has waited for a second. Then neither waits any more.
    @Test func theFirstOfTwoWaitsCounts() throws {
        let prefs = try readerOfAChange()
        try complete(["a": 0])
        #expect(prefs.ints == ["a": 0])
        func isQuiet(since began: Duration) throws -> Bool {
            try prefs.location.withFile { file in
                file.cache.state.withLock { $0.presence.isQuiet(waitingSince: began, clock) }
            }
        }
        let first = clock.elapsed
        #expect(try !isQuiet(since: first))
        for number in 1...24 {
            pass(.milliseconds(40))
            try complete(["a": number])
            #expect(prefs.ints == ["a": number])
        }
        let second = clock.elapsed
        #expect(try !isQuiet(since: second))
        #expect(try !isQuiet(since: first), "it has waited for 960 ms")
        pass(.milliseconds(40))
        try complete(["a": 25])
        #expect(prefs.ints == ["a": 25])
        #expect(try isQuiet(since: second))
        #expect(try isQuiet(since: first))
    }

    @Test func theTimeoutOfAnUpdateEndsTheWaitForAChange() throws {
        let prefs = try readerOfAChange()
        try complete(["a": 5])
        let error = #expect(throws: FileError.self) {
            try LockWait.within(.zero) { try prefs.location.transact(durability: .process) { _ in } }
        }
        #expect(error?.text == "busy: \(folder.file().path): another program is still saving it after 0 s")
        #expect(clock.pauses == 0)
    }

    // MARK: - What is no change of others

    @Test func writesOfThisProgramDoNotWaitForOneAnother() throws {
        let prefs = try readerOfAChange()
        for number in 1...5 {
            clock.stamp = clock.elapsed
            prefs["d"] = number
            pass(.milliseconds(1))
        }
        #expect(prefs.outcome == "ok" && prefs.ints == Self.known.merging(["d": 5]) { $1 } && clock.pauses == 0)
    }

    /// A mode, an equal save, a file that gets the name of the former one, and one that was half removed.
    @Test(arguments: ["chmod", "touch", "equal", "rename"]) func whatIsNoChangeInPlace(_ kind: String) throws {
        let prefs = try readerOfAChange()
        let ints = kind == "rename" ? ["a": 5] : Self.known
        clock.stamp = clock.elapsed
        switch kind {
        case "chmod": #expect(chmod(folder.file().path, 0o640) == 0)
        case "touch": break
        case "equal": try write(Self.text(ints))
        default:
            try Self.text(ints).write(to: folder.file("new"))
            #expect(rename(folder.file("new").path, folder.file().path) == 0)
        }
        prefs["d"] = 1
        #expect(prefs.ints == ints.merging(["d": 1]) { $1 } && prefs.outcome == "ok" && clock.pauses == 0)
    }

    /// It has no bytes to compare.
    @Test(arguments: [false, true]) func aProcessThatKnowsNothingDoesNotWaitForQuiet(_ isRead: Bool) throws {
        try make(Case(hasCopy: false))
        pass(.seconds(10))
        try complete(["a": 5])
        let location = FileLocation(path: folder.file().path, system: clock)
        if isRead { _ = try location.read() }
        try location.transact(durability: .process) { $0.replace("other", with: .integer(1)) }
        #expect(try location.read().content?["Root"]?.dictionary?.objects as? [String: Int] == ["a": 5])
        #expect(clock.pauses == 0)
    }

    /// There the number of a file says nothing.
    @Test(arguments: [FileSystem.server, .smb])
    func onAServerNoWriteWaitsForQuiet(_ kind: FileSystem) throws {
        clock.kindOfServer = kind
        clock.isServer = true
        let prefs = try readerOfAChange()
        try complete(["a": 5])
        #expect(prefs.ints == ["a": 5])
        try complete(["a": 6])
        prefs["d"] = 1
        #expect(prefs.ints == ["a": 6, "d": 1] && prefs.outcome == "ok" && clock.pauses == 0)
    }

    /// UserDefaults of this process writes the file in place, under the lock, before and after it is replaced.
    @Test func aChangeByUserDefaultsUnderTheLockIsNotAwaited() throws {
        try make(Case(hasCopy: false))
        nonisolated(unsafe) var dirty: [[String: Int]] = []
        nonisolated(unsafe) let synchronize = { [unowned self] in
            #expect(clock.locks == 1)
            if let ints = dirty.popLast() { #expect(throws: Never.self) { try complete(ints) } }
        }
        let location = FileLocation(path: folder.file().path, system: clock) {
            $0.mirror = FileRules.DefaultsMirror(
                willChange: { synchronize() }, didChange: { synchronize() }, note: { _ in })
        }
        func ints() throws -> [String: Int]? {
            try location.read().content?["Root"]?.dictionary?.objects as? [String: Int]
        }
        func set(_ number: Int) throws {
            clock.stamp = clock.elapsed
            try location.transact(durability: .process) { $0.replace("other", with: .integer(Int64(number))) }
        }
        #expect(try ints() == Self.known)
        pass(.seconds(10))
        dirty = [["a": 9]]
        try location.transact(durability: .process) { _ in }
        #expect(try ints() == ["a": 9] && dirty == [])
        dirty = [["a": 11], ["a": 10]]
        try set(1)
        #expect(try ints() == ["a": 11] && dirty == [])
        try set(2)
        dirty = [["a": 12]]
        let (before, after) = try (Self.text(["a": 3]), Self.text(["a": 12]))
        let undo = FileReplacement(path: folder.file().path, before: before, after: FileBytes(after))
        try location.revert(undo)
        #expect(try ints() == ["a": 3] && dirty == [] && clock.pauses == 0)
        // A change by others is awaited, also after an update that changes nothing.
        for number in 1...2 {
            pass(.seconds(1))
            try location.transact(durability: .process) { _ in }
            pass(.milliseconds(1))
            try complete(["a": number])
            try location.transact(durability: .process) { _ in }
            #expect(clock.pauses == 5 * number)
        }
    }

    // MARK: - Stamps

    /// A stamp in whole seconds, in the future or of another clock does not say when the file changed, so it changed when
    /// it was found.
    @Test(arguments: ["whole seconds", "future", "near future"]) func stampsThatDoNotShowTheTime(_ kind: String) throws
    {
        clock.hasWholeSeconds = kind == "whole seconds"
        let prefs = try readerOfAChange()
        pass(.milliseconds(300))
        try complete(["a": 5])
        if kind == "future" { clock.stamp += .seconds(3_600) }
        if kind == "near future" { clock.stamp += .milliseconds(15) }
        prefs["d"] = 1
        #expect(prefs.ints == ["a": 5, "d": 1] && prefs.outcome == "ok" && clock.pauses == 5)
        if kind == "near future" { return }
        // The second change has the same stamp and the same size.
        pass(.milliseconds(10))
        let stamp = clock.stamp
        try complete(["a": 6])
        clock.stamp = stamp
        #expect(prefs.ints == ["a": 6])
        pass(.milliseconds(10))
        prefs["d"] = 2
        #expect(prefs.ints == ["a": 6, "d": 2] && prefs.outcome == "ok" && clock.pauses == 9)
    }

    /// As `cp -p` and `rsync -t` leave it at their end.
    @Test func aFileWithAnOldTimeIsQuiet() throws {
        let prefs = try readerOfAChange()
        try complete(["a": 5])
        clock.stamp -= .seconds(20)
        prefs["d"] = 1
        #expect(prefs.ints == ["a": 5, "d": 1] && prefs.outcome == "ok" && clock.pauses == 0)
    }

    /// A rewrite that truncates: the wait counts from the last change, not from the first.
    @Test(arguments: [State.empty, .cutOff]) func aFileThatWasHalfWrittenHasToBeQuiet(_ state: State) throws {
        let prefs = try readerOfAChange()
        try disturb(state)
        clock.onPause = { [unowned self] in
            if clock.pauses == 20 { #expect(throws: Never.self) { try complete(["a": 5]) } }
            if clock.pauses == 23 { #expect(throws: Never.self) { try complete(["a": 6]) } }
        }
        prefs["d"] = 1
        #expect(prefs.ints == ["a": 6, "d": 1] && prefs.outcome == "ok" && clock.pauses == 23 + 5)
    }
}
