import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// The watch of a file that moves on when its folder does, and the poller.
@Suite(.waits) final class FileWatchTests: FolderSuite {
    /// Watches whose events the test makes.
    private final class MadeEvents: SystemCalls, @unchecked Sendable {
        /// The names that are watched, and the handlers.
        let begun = Heard<(path: String, handler: FolderWatcher.Handler)>()
        let failure = Locked<StorageFailure?>(nil)

        var paths: [String] { begun.all.map(\.path) }

        override func watch(
            _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
        ) throws(StorageFailure) -> AnyObject {
            if let failure = failure.withLock({ $0 }) { throw failure }
            begun.append((names.path, handler))
            return names.path as NSString
        }
    }

    private let system = MadeEvents()

    private func watch(_ name: String = "test.plist", _ changed: @escaping @Sendable () -> Void) throws -> FileWatch {
        try FileWatch(FileNames(path: folder.path + "/" + name), system: system, changed)
    }

    /// Who looks after that misses nothing: what happens then is an event of the new watch.
    @Test func theFolderIsWatchedAnewBeforeTheReceiverLooks() throws {
        let watches = Heard<Int>()
        let watch = try watch { [system] in watches.append(system.begun.all.count) }
        for number in 0..<3 { system.begun.all[number].handler(true) }
        #expect(watches.all == [2, 3, 4])
        // An event of the file needs no new watch.
        system.begun.all[3].handler(false)
        #expect(watches.all == [2, 3, 4, 4])
        withExtendedLifetime(watch) {}
    }

    /// The nearest folder above is watched, and the next one when a folder comes.
    @Test func theFolderThatComesIsWatchedBeforeTheReceiverLooks() throws {
        let missing = StorageFailure("inotify_add_watch", "", code: ENOENT)
        final class Folders: SystemCalls, @unchecked Sendable {
            let inner: MadeEvents
            let missing: StorageFailure
            init(_ inner: MadeEvents, _ missing: StorageFailure) { (self.inner, self.missing) = (inner, missing) }
            override func watch(
                _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
            ) throws(StorageFailure) -> AnyObject {
                guard try status(ofPath: names.folder, followsLinks: true) != nil else { throw missing }
                return try inner.watch(names, handler)
            }
        }
        let looks = Heard<String?>()
        let watch = try FileWatch(
            FileNames(path: folder.path + "/one/two/test.plist"), system: Folders(system, missing)
        ) { [system] in looks.append(system.paths.last) }
        #expect(system.paths == [folder.path + "/one"])
        for name in ["one", "one/two"] {
            mkdir(folder.file(name).path, 0o700)
            system.begun.all.last?.handler(false)
        }
        #expect(looks.all == ["one/two", "one/two/test.plist"].map { folder.path + "/" + $0 })
        withExtendedLifetime(watch) {}
    }

    /// A file has the name of a folder on the path, until a folder takes its place.
    @Test func aFileInPlaceOfAFolderIsWatchedFromAbove() throws {
        let looks = Heard<Bool>()
        try Data().write(to: folder.file("one"))
        let path = folder.path + "/one/two/test.plist"
        let watch = try FileWatch(FileNames(path: path), system: .real) { looks.append(true) }
        #expect(unlink(folder.file("one").path) == 0)
        looks.wait { !$0.isEmpty }
        try FileManager.default.createDirectory(at: folder.file("one/two"), withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: path))
        // The new folders are watched, however far the look has come that their creation has caused.
        expectEventually(looks.all.count, "another look") { $0 > 1 }
        withExtendedLifetime(watch) {}
    }

    /// The poller tries again. Nothing else tells of a change in that time.
    @Test func aWatchThatIsLostIsPolledUntilItIsBack() throws {
        // The number of watches at each look; nil for each look of another file, which the same poller looks at.
        let looks = Heard<Int?>()
        let watch = try watch { [system] in looks.append(system.begun.all.count) }
        system.failure.withLock { $0 = StorageFailure("inotify_add_watch", "", code: ENOSPC) }
        system.begun.all[0].handler(true)
        // The poller may have looked already.
        #expect(Set(looks.all) == [1])
        system.failure.withLock { $0 = nil }
        let other = FilePoller.shared.start { looks.append(nil) }
        looks.wait { $0.contains(2) || $0.filter { $0 == nil }.count > 1 }
        #expect(looks.all.contains(2))
        withExtendedLifetime(other) {}
        system.begun.all.last?.handler(false)
        #expect(looks.all.compactMap(\.self).drop { $0 == 1 } == [2, 2])
        withExtendedLifetime(watch) {}
    }

    // MARK: - The poller

    /// Its thread ends when there is nothing to look at.
    @Test func thePollerStartsAgainAfterItsEnd() {
        final class OfThread {
            let whenEnded: () -> Void
            init(_ whenEnded: @escaping () -> Void) { self.whenEnded = whenEnded }
            deinit { whenEnded() }
            /// The pointer of the system is optional on Linux only.
            static func release(_ object: UnsafeMutableRawPointer?) {
                if let object { Unmanaged<OfThread>.fromOpaque(object).release() }
            }
        }
        let poller = FilePoller(every: 1)
        var new = pthread_key_t()
        pthread_key_create(&new) { OfThread.release($0) }
        let key = new
        for _ in 0..<2 {
            let looks = Heard<Bool>(), ended = Heard<Bool>()
            var poll = poller.start {
                if pthread_getspecific(key) == nil {
                    pthread_setspecific(key, Unmanaged.passRetained(OfThread { ended.append(true) }).toOpaque())
                }
                looks.append(true)
            }
            looks.wait { !$0.isEmpty }
            #expect(poll != nil && ended.all.isEmpty)
            poll = nil
            ended.wait(for: 1)
        }
    }

    @Test(arguments: 0..<3) func theEndOfOnePollEndsNoOther(_ ended: Int) {
        let poller = FilePoller(every: 1)
        let looks = (0..<3).map { _ in Heard<Bool>() }
        var polls = looks.map { look in poller.start { look.append(true) } }
        polls[ended] = nil
        /// Waits for three rounds of looks. One of them has begun and ended.
        func waitForRounds() {
            let rounds = Heard<Bool>()
            let poll = poller.start { rounds.append(true) }
            rounds.wait { $0.count >= 3 }
            withExtendedLifetime(poll) {}
        }
        waitForRounds()
        let counts = looks.map(\.all.count)
        waitForRounds()
        for (number, look) in looks.enumerated() {
            #expect((look.all.count > counts[number]) == (number != ended), "\(number)")
        }
        withExtendedLifetime(polls) {}
    }
}
