@testable import PrefsSupport
import Foundation
import PersistentPreferences
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// What is known of a file belongs to the path that the program gave, wherever its links lead.
@Suite(.waits) struct PlaceTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for release in ["1", "2"] { try make(release) }
        try point(to: "1")
    }

    final class ReleasePrefs: PersistentPrefs, @unchecked Sendable {
        @Pref var a = 0
        @Pref var b = 0
    }

    private func make(_ release: String) throws {
        try FileManager.default.createDirectory(at: folder.file(release), withIntermediateDirectories: true)
    }

    /// The system follows 40.
    @Test(arguments: [9, 40, 41]) func aChainOfLinks(_ count: Int) throws {
        for number in 1...count {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("\(number)").path + ".plist",
                withDestinationPath: number == 1 ? "1/p.plist" : "\(number - 1).plist")
        }
        let chain = folder.file("\(count).plist")
        let prefs = ReleasePrefs(store: .propertyList(url: chain, durability: .crash, layout: .flat))
        prefs.a = count
        #expect((prefs.lastError == nil) == (count <= 40), "\(prefs.outcome)")
        #expect(direct("1").a == (count <= 40 ? count : 0))
    }

    private func release(_ name: String) -> URL { folder.file("\(name)/p.plist") }

    /// Replaces the link in one step, as a mounted ConfigMap does.
    private func point(to release: String) throws {
        let new = folder.file("current.new").path
        try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: release)
        #expect(rename(new, folder.file("current").path) == 0)
    }

    /// Prefs on the file of a release, past the link.
    private func direct(_ name: String) -> ReleasePrefs {
        ReleasePrefs(store: .propertyList(url: release(name), durability: .crash, layout: .flat))
    }

    /// Prefs on the link, which have stored 1 under `a` in release 1.
    private func prefs(system: SystemCalls = .real) -> ReleasePrefs {
        let store = PrefsStore.propertyList(
            url: folder.file("current/p.plist"), durability: .crash, layout: .flat, system: system)
        let prefs = ReleasePrefs(store: store)
        prefs.a = 1
        return prefs
    }

    @Test func theStateOfOneReleaseIsReadWhileTheNextIsMalformed() throws {
        let prefs = prefs()
        try Data("{\"a\":3,}".utf8).write(to: release("2"))
        try point(to: "2")
        #expect(prefs.problems().count == 1)
        for _ in 0..<2 {
            #expect(prefs.a == 1)
            #expect(prefs.lastError?.detail(of: PrefsError.notOurs) != nil, "\(prefs.outcome)")
        }
        // It is not written into the next release.
        prefs.b = 2
        prefs.update { prefs.a += 1 }
        #expect(prefs.lastError?.isWarning == false)
        #expect(try Data(contentsOf: release("2")) == Data("{\"a\":3,}".utf8))
        #expect(try propertyList(at: release("1")) as NSDictionary == ["a": 1])
        // Another process mends it.
        try writePropertyList(["a": 5], to: release("2"))
        #expect(prefs.a == 5 && prefs.lastError == nil)
        prefs.b = 2
        #expect(try propertyList(at: release("2")) as NSDictionary == ["a": 5, "b": 2])
    }

    /// A damaged property list would be quarantined and written anew in its own place.
    @Test func aDamagedNextReleaseIsNotReplaced() throws {
        let other = direct("2")
        other.a = 7
        let damage = try Data(contentsOf: release("2")).dropLast(20)
        let prefs = prefs()
        try damage.write(to: release("2"))
        try point(to: "2")
        // It may be half of a save.
        expectEventually((prefs.a, prefs.lastError), "another a than 1, or an error") { $0.0 != 1 || $0.1 != nil }
        // What this process has learned through another path is known, too.
        #expect(prefs.a == 1 && prefs.lastError?.isWarning == false)
        prefs.b = 2
        #expect(prefs.lastError?.isWarning == false)
        #expect(try Data(contentsOf: release("2")) == damage)
        prefs.a = 1
        #expect(prefs.lastError?.isWarning == false, "a write that is equal to the state of the other file")
        #expect(try Data(contentsOf: release("2")) == damage)
        prefs.deleteRoot()
        #expect(prefs.lastError?.isWarning == true, "an explicit word proceeds")
    }

    /// The next release cannot be read, and then the path leads nowhere. The last place is that of the first release, or of the
    /// second, if somebody has read that.
    @Test(arguments: ["malformed", "a folder", "good", "good for observers"])
    func theStateOfTheReleaseBeforeIsReadWhileThePathLeadsNowhere(_ next: String) throws {
        let prefs = prefs()
        switch next {
        case "malformed": try Data("hello".utf8).write(to: release("2"))
        case "a folder": try FileManager.default.createDirectory(at: release("2"), withIntermediateDirectories: false)
        default: try writePropertyList(["a": 2], to: release("2"))
        }
        try point(to: "2")
        var observer: Observer<[Int]>?
        if next == "good for observers" { observer = prefs.$a.observer() } else { _ = prefs.a }
        let known = next.hasPrefix("good") ? 2 : 1
        try point(to: "current")
        for _ in 0..<2 {
            #expect(prefs.a == known)
            #expect(prefs.lastError?.detail(of: PrefsError.unreadable)?.code == ELOOP, "\(prefs.outcome)")
        }
        prefs.a = known
        #expect(prefs.lastError?.isWarning == false, "an equal write is not stored, either")
        try point(to: "1")
        #expect(prefs.a == 1 && prefs.lastError == nil)
        withExtendedLifetime(observer) {}
    }

    /// Also if it is equal to what is read in the meantime.
    @Test func aWriteWhileTheNextReleaseCannotBeReadIsAnError() throws {
        let prefs = prefs()
        try FileManager.default.createDirectory(at: release("2"), withIntermediateDirectories: false)
        try point(to: "2")
        for write in [
            { prefs.a = 1 }, { prefs.b = 2 }, { prefs.update { prefs.a = 1 } }, { prefs.update { _ = prefs.a } },
        ] {
            write()
            #expect(prefs.lastError?.isWarning == false, "\(prefs.outcome)")
            #expect(prefs.a == 1 && prefs.b == 0)
        }
        #expect(try propertyList(at: release("1")) as NSDictionary == ["a": 1])
    }

    @Test func aNewerStateThatWasLearnedThroughAnotherPathIsRead() throws {
        let prefs = prefs()
        try Data("hello".utf8).write(to: release("2"))
        try point(to: "2")
        #expect(prefs.a == 1)
        let direct = direct("1")
        direct.a = 4
        #expect(prefs.a == 4)
    }

    /// `ln -sfn` removes the link before it makes it anew.
    @Test(arguments: [false, true]) func aLinkThatIsMissingForAMomentHidesNothing(isUpdate: Bool) throws {
        let system = StoppedClock()
        let prefs = prefs(system: system)
        try FileManager.default.removeItem(at: folder.file("current"))
        try system.noteChange(of: folder.path)
        #expect(prefs.a == 1 && prefs.lastError == nil)
        system.elapsed = 249
        #expect(prefs.a == 1)
        system.onPause = { [self] in try? point(to: "1") }
        if isUpdate { prefs.update { prefs.b = 2 } } else { prefs.b = 2 }
        #expect(try propertyList(at: release("1")) as NSDictionary == ["a": 1, "b": 2])
        try FileManager.default.removeItem(at: folder.file("current"))
        try system.noteChange(of: folder.path)
        #expect(prefs.a == 1)
        system.elapsed += 250
        #expect(prefs.a == 0 && prefs.lastError == nil)
    }

    /// `ln -sfn 2 current`, and then `cp config 2/`: the folder has not changed for a long time, but the link has.
    @Test func aLinkThatMovesToAMissingFileHidesNothing() throws {
        let system = RecordingSystemCalls()
        let prefs = prefs(system: system)
        let longAgo = timespec(tv_sec: 1_000_000_000, tv_nsec: 7)
        #expect(utimensat(AT_FDCWD, folder.file("2").path, [longAgo, longAgo], 0) == 0)
        try point(to: "2")
        system.age = (folder.file("current").path, .zero)
        #expect(prefs.a == 1 && prefs.lastError == nil)
        system.age?.time = .milliseconds(249)
        #expect(prefs.a == 1)
        system.age?.time = .milliseconds(250)
        #expect(prefs.a == 0 && prefs.lastError == nil)
    }

    /// Of two links on the path, one has moved. The time of the other says nothing.
    @Test(arguments: [true, false]) func theLinkThatMovedIsTheOneThatCounts(_ isFirst: Bool) throws {
        let system = RecordingSystemCalls()
        func link(_ name: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("new").path, withDestinationPath: target)
            #expect(rename(folder.file("new").path, folder.file(name).path) == 0)
        }
        try link("here", to: "current")
        try link("other", to: "2")
        let prefs = ReleasePrefs(
            store: .propertyList(
                url: folder.file("here/p.plist"), durability: .crash, layout: .flat, system: system))
        prefs.a = 1
        // The other link is older by more than a stamp can blur.
        let made = ContinuousClock.now
        #expect(Patience.until { .now > made + .milliseconds(20) })
        if isFirst { try link("here", to: "other") } else { try point(to: "2") }
        system.age = (folder.file(isFirst ? "here" : "current").path, .zero)
        #expect(prefs.a == 1 && prefs.lastError == nil)
        system.age?.time = .milliseconds(249)
        #expect(prefs.a == 1)
        system.age?.time = .milliseconds(250)
        #expect(prefs.a == 0 && prefs.lastError == nil)
    }

    /// A path that has led to three files: what is known is the state of the one before.
    @Test func theStateOfTheReleaseBeforeIsKnown() throws {
        let prefs = prefs()
        try make("3")
        try writePropertyList(["a": 2], to: release("2"))
        try point(to: "2")
        #expect(prefs.a == 2)
        for name in ["3", "1"] {
            try Data("hello".utf8).write(to: release(name))
            try point(to: name)
            #expect(prefs.problems().count == 1)
            #expect(prefs.a == 2 && prefs.lastError?.isWarning == false, "\(name)")
        }
    }

    /// The same, after a reader of release 2 has found that its file is missing.
    @Test func aLinkThatMovesToAFileThatWasMissingHidesNothing() throws {
        let system = RecordingSystemCalls()
        let prefs = prefs(system: system)
        let next = ReleasePrefs(
            store: .propertyList(url: release("2"), durability: .crash, layout: .flat, system: system))
        #expect(next.a == 0)
        try point(to: "2")
        system.age = (folder.file("current").path, .zero)
        #expect(prefs.a == 1 && prefs.lastError == nil)
        try writePropertyList(["a": 6], to: release("2"))
        #expect(prefs.a == 6 && next.a == 6)
    }

    private final class StoppedClock: SystemCalls, @unchecked Sendable {
        /// In milliseconds.
        nonisolated(unsafe) var elapsed = 0
        nonisolated(unsafe) var onPause: (() -> Void)?

        override func monotonicNow() -> Duration { .milliseconds(elapsed) }

        /// When a folder has changed, by its stamp and by this clock; nil for the real time of day.
        nonisolated(unsafe) private var change: (stamp: FileStatus.Time, elapsed: Int)?

        /// Says that a folder has changed now.
        func noteChange(of folder: String) throws {
            change = try status(ofPath: folder, followsLinks: true).map { ($0.modified, elapsed) }
        }

        override func wallClockNow() -> FileStatus.Time {
            guard let change else { return super.wallClockNow() }
            let nanoseconds = change.stamp.nanoseconds + (elapsed - change.elapsed) * 1_000_000
            return FileStatus.Time(
                seconds: change.stamp.seconds + Int64(nanoseconds / 1_000_000_000),
                nanoseconds: nanoseconds % 1_000_000_000)
        }

        override func pause() { onPause?() }
    }

    /// After a look at a release that cannot be read, the path leads to its own file again, which is damaged meanwhile.
    @Test func aPathThatLeadsBackHasNoFormerFile() throws {
        let prefs = prefs()
        try Data("hello".utf8).write(to: release("2"))
        try point(to: "2")
        #expect(prefs.a == 1)
        try Data(contentsOf: release("1")).dropLast(20).write(to: release("1"))
        try point(to: "1")
        prefs.b = 2
        #expect(prefs.lastError?.isWarning == true, "\(String(describing: prefs.lastError))")
        #expect(try propertyList(at: release("1")) as NSDictionary == ["a": 1, "b": 2])
    }

    /// Each absence of the link has its own time.
    @Test func aLinkThatIsMissingAgainHidesNothing() throws {
        let system = StoppedClock()
        let prefs = prefs(system: system)
        for round in 0..<3 {
            system.elapsed = 1_000 * round
            try FileManager.default.removeItem(at: folder.file("current"))
            try system.noteChange(of: folder.path)
            #expect(prefs.a == 1 && prefs.lastError == nil, "\(round)")
            try point(to: "1")
            #expect(prefs.a == 1)
        }
    }

    /// While one thread reads release 2, the link moves to release 3, whose file is malformed, and another thread reads.
    @Test func aReadOfAReleaseThatWasLeftForgetsNothing() throws {
        let system = RecordingSystemCalls()
        let prefs = prefs(system: system)
        try make("3")
        try writePropertyList(["a": 5], to: release("2"))
        try Data("hello".utf8).write(to: release("3"))
        try point(to: "2")
        nonisolated(unsafe) var other: Int?
        system.onCall = { [system, self] name in
            guard name == "read" else { return }
            system.onCall = nil
            try? point(to: "3")
            inThreads(1) { _ in other = prefs.a }
        }
        #expect(prefs.a == 5 && other == 1)
        #expect(prefs.a == 1 && prefs.lastError?.isWarning == false)
    }

    /// Observers hear no removal, and are told of the fault: the file is malformed, or a folder has its name.
    @Test(arguments: [("because it may belong to another program", false), ("is a folder", true)])
    func observersHearNoRemovalWhileAReleaseCannotBeRead(_ fault: String, _ isFolder: Bool) throws {
        let prefs = prefs()
        let errors = prefs.errorObserver(), changes = prefs.$a.observer()
        if isFolder {
            try FileManager.default.createDirectory(at: release("2"), withIntermediateDirectories: false)
        } else {
            try Data("{\"a\":3,}".utf8).write(to: release("2"))
        }
        try point(to: "2")
        #expect(errors.wait(for: 1).map { $0.contains(fault) } == [true])
        // Release 2 is mended in place, or release 3 follows.
        let good = isFolder ? "3" : "2"
        try make(good)
        try writePropertyList(["a": 6], to: folder.file("\(good)/new"))
        #expect(rename(folder.file("\(good)/new").path, release(good).path) == 0)
        if isFolder { try point(to: "3") }
        #expect(changes.wait(for: 1).map(\.last) == [6])
    }

    /// The link has moved to a release whose file is copied a moment later. The clock stands still.
    @Test func observersHearNoRemovalBeforeTheFileOfANewRelease() throws {
        let system = RecordingSystemCalls()
        let prefs = prefs(system: system)
        let looks = Heard<String>()
        system.beforeOpen = { name, _, _ in if name == "2" { looks.append(name) } }
        let changes = prefs.$a.observer()
        system.age = (folder.file("current").path, .zero)
        try point(to: "2")
        looks.wait { $0.count > 1 }
        try writePropertyList(["a": 6], to: folder.file("2/new"))
        #expect(rename(folder.file("2/new").path, release("2").path) == 0)
        #expect(changes.wait(for: 1) == [[1, 6]])
    }

    /// However often a link changes, it is looked at again once in the time of a window. The clock stands still.
    @Test func changesOfALinkCauseNoMoreLooks() throws {
        let system = RecordingSystemCalls()
        let prefs = prefs(system: system)
        let looks = Heard<ContinuousClock.Instant>()
        system.beforeOpen = { name, _, _ in if name == "2" { looks.append(.now) } }
        let changes = prefs.$a.observer()
        system.age = (folder.file("current").path, .zero)
        for _ in 0..<10 {
            let count = looks.all.count
            try point(to: "2")
            looks.wait { $0.count > count }
        }
        looks.wait { times in
            times.count > 3 && zip(times.suffix(4), times.suffix(3)).allSatisfy { $1 - $0 > .milliseconds(40) }
        }
        #expect(changes.all == [])
    }

    // MARK: - During an update

    enum Move: CaseIterable { case linkToAFolder, linkToAFile, folder }

    @Test(arguments: Move.allCases) func anUpdateWhosePathLeadsElsewhereIsRejected(_ move: Move) throws {
        try writePropertyList(["a": 9], to: release("2"))
        if move == .linkToAFile {
            // Both files are in one folder.
            try writePropertyList(["a": 9], to: folder.file("1/q.plist"))
            try link("o.plist")
        }
        let prefs = move == .linkToAFolder ? prefs() : direct("1")
        prefs.a = 1
        let error = prefs.update {
            prefs.b = 2
            switch move {
            case .linkToAFolder: try? point(to: "2")
            case .linkToAFile: try? link("q.plist")
            case .folder: try? exchange()
            }
            // Accesses in the update belong to the file that it changes.
            #expect(prefs.a == 1 && prefs.b == 2)
            prefs.a = 3
            #expect(prefs.lastError == nil)
        }.failure
        let failure = try #require(error?.detail(of: PrefsError.notStored), "\(String(describing: error))")
        #expect(failure.reason == "leads to another place than when the update began")
        let former = [
            Move.linkToAFolder: release("1"), .linkToAFile: folder.file("1/o.plist"),
            .folder: folder.file("1.old/p.plist"),
        ]
        #expect(try propertyList(at: #require(former[move])) as NSDictionary == ["a": 1])
        let expected = move == .folder ? 0 : 9
        expectEventually((prefs.a, prefs.b), "\(expected) and 0") { $0 == (expected, 0) }
    }

    /// The file of the first release becomes a link, in one step.
    private func link(_ target: String) throws {
        let new = folder.file("1/new").path
        try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: target)
        #expect(rename(new, release("1").path) == 0)
    }

    /// `mv 1 1.old; mkdir 1`
    private func exchange() throws {
        #expect(rename(folder.file("1").path, folder.file("1.old").path) == 0)
        try make("1")
    }

    // MARK: - Files that may not be read

    @Test func anUnreadableFileGivesTheLastKnownState() throws {
        let system = RecordingSystemCalls()
        let prefs = prefs(system: system)
        let heard = prefs.errorObserver()
        // Another file, so that the open one is not current.
        try writePropertyList(["a": 5], to: folder.file("1/new"))
        // Before the other file is there, because the closure of the observer looks at it at once.
        for _ in 0..<1_000 { system.fail("open", with: EACCES) }
        #expect(rename(folder.file("1/new").path, release("1").path) == 0)
        for _ in 0..<3 {
            #expect(prefs.a == 1)
            #expect(prefs.lastError?.detail(of: PrefsError.unreadable)?.code == EACCES, "\(prefs.outcome)")
        }
        expectEventually(heard.all, "1 error") { $0.count == 1 }
        prefs.b = 2
        #expect(prefs.lastError?.isWarning == false && prefs.b == 0)
        #expect(try propertyList(at: release("1")) as NSDictionary == ["a": 5])
    }
}
