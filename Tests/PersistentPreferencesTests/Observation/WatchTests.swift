@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine

/// Folders are watched from the first observer to the last, and for observers only.
@Suite(.waits) struct WatchTests {
    private let folder = TemporaryFolder.fresh

    /// Counts the existing watches, and fails on demand.
    private final class CountingWatches: WatchedSystemCalls, @unchecked Sendable {
        private let lock = NSCondition()
        private var count = 0
        private var begun = 0
        private var code: Int32?

        /// The watches when others have ended. An event that is being handled may hold one for a moment longer.
        func watchesLeft(_ expected: Int = 0) -> Int {
            wait("expected at most \(expected) watches") { $0 <= expected }
        }

        var watches: Int { lock.withLock { count } }
        /// The watches when there are as many as expected.
        func watches(reach expected: Int) -> Int {
            wait("expected \(expected) watches") { $0 >= expected }
        }

        /// The number of watches. A wait that is too long shortens those of others, as each failed wait does.
        private func wait(_ expected: String, until isEnough: (Int) -> Bool) -> Int {
            lock.withLock {
                let limit = Date(timeIntervalSinceNow: TimeInterval(Patience.seconds))
                while !isEnough(count), lock.wait(until: limit) {}
                if !isEnough(count) { Issue.record("\(Patience.failure("\(expected), found \(count)"))") }
                return count
            }
        }
        var watchesEver: Int { lock.withLock { begun } }
        func fail(with code: Int32?) { lock.withLock { self.code = code } }
        /// Called before each watch begins, with its path.
        nonisolated(unsafe) var beforeWatch: ((String) -> Void)?

        private final class Watch {
            let inner: AnyObject
            let end: () -> Void
            init(_ inner: AnyObject, _ end: @escaping () -> Void) { (self.inner, self.end) = (inner, end) }
            deinit { end() }
        }

        override func watch(
            _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
        ) throws(StorageFailure) -> AnyObject {
            beforeWatch?(names.path)
            if let code = lock.withLock({ code }) {
                throw StorageFailure("inotify_add_watch", names.folder, code: code)
            }
            let inner = try super.watch(names, handler)
            lock.withLock {
                (count, begun) = (count + 1, begun + 1)
                lock.broadcast()
            }
            return Watch(inner) {
                self.lock.withLock {
                    self.count -= 1
                    self.lock.broadcast()
                }
            }
        }
    }

    private func prefs(_ name: String, _ system: CountingWatches) -> AnyPrefs { folder.observedPrefs(name, system) }

    @Test func whoOnlyReadsAndWritesWatchesNothing() {
        let system = CountingWatches()
        let prefs = prefs("test.plist", system)
        prefs["a"] = 1
        prefs.update { $0["b"] = prefs["a"] }
        _ = (prefs.values, prefs.values.count)
        prefs.reload()
        #expect(system.watchesEver == 0)
    }

    @Test(arguments: Watcher.allCases)
    func fromTheFirstObserverToTheLast(_ watcher: Watcher) throws {
        let system = CountingWatches(watcher)
        let prefs = prefs("test.plist", system), other = self.prefs("test.plist", system)
        let one = prefs.onChange { _ in }
        #expect(system.watches == 1)
        let two = other.onChange(of: "a") { _ in }
        var sequence: PrefUpdates<PrefsChange>? = prefs.changes()
        #expect(system.watches == 1)
        one.cancel()
        withExtendedLifetime(sequence) {}
        sequence = nil
        #expect(system.watches == 1)
        two.cancel()
        #expect(system.watchesLeft() == 0)
        // A new observer starts a new watch.
        let three = prefs.onChange { _ in }
        #expect(system.watches == 1)
        three.cancel()
        #expect(system.watchesLeft() == 0)
    }

    @Test(arguments: Watcher.allCases)
    func linksOnThePathAreWatchedToo(_ watcher: Watcher) throws {
        let system = CountingWatches(watcher)
        prefs("real.plist", system)["a"] = 1
        #expect(symlink("real.plist", folder.file("link.plist").path) == 0)
        let observation = prefs("link.plist", system).onChange { _ in }
        #expect(system.watches == 2)
        observation.cancel()
        #expect(system.watchesLeft() == 0)
    }

    @Test(arguments: [ENOSPC, EMFILE, EACCES], Watcher.allCases)
    func whatCannotBeWatchedIsReported(_ code: Int32, _ watcher: Watcher) throws {
        let system = CountingWatches(watcher)
        let prefs = prefs("test.plist", system)
        system.fail(with: code)
        let listener = Listener(prefs)
        #expect(prefs.lastError?.detail(of: PrefsError.notWatched) != nil, "\(prefs.outcome)")
        #expect(prefs.errors.count == 1)
        // Changes of this process are still reported, and so are foreign changes that its writes find.
        prefs["a"] = 1
        #expect(prefs.lastError == nil)
        try writePropertyList(["Root": ["a": 2]], to: folder.file())
        prefs["a"] = 3
        let heard = listener.take()
        #expect(heard == ["Root a: - → 1", "Root a: 1 → 2 elsewhere", "Root a: 2 → 3"])
        // The next observer tries again, for all.
        system.fail(with: nil)
        let second = Listener(prefs)
        #expect(prefs.lastError == nil)
        #expect(system.watchesLeft(1) == 1)
        try writePropertyList(["Root": ["a": 4]], to: folder.file())
        second.heard.wait(for: 1)
        let later = second.take()
        #expect(
            later == ["Root a: 3 → 4, end: '*' → - elsewhere"]
                || second.heard.all.first?.hasPrefix("Root a: 3 → 4") == true)
    }

    /// Nothing else tells that the link leads elsewhere.
    @Test func aLinkThatCannotBeWatchedIsLookedAt() throws {
        let system = CountingWatches()
        for (name, number) in [("one.plist", 1), ("two.plist", 2), ("three.plist", 3)] {
            prefs(name, system)["a"] = number
        }
        let link = folder.file("link.plist").path
        #expect(symlink("one.plist", link) == 0)
        system.fail(with: ENOSPC)
        let prefs = prefs("link.plist", system)
        let heard = prefs.observer()
        #expect(prefs.lastError?.detail(of: PrefsError.notWatched) != nil, "\(prefs.outcome)")
        for (number, target) in [(1, "two.plist"), (2, "three.plist")] {
            #expect(symlink(target, link + ".new") == 0 && rename(link + ".new", link) == 0)
            #expect(heard.wait(for: number).last == "Root a: \(number) → \(number + 1) elsewhere")
        }
        system.fail(with: nil)
        #expect(system.watches(reach: 2) == 2)
    }

    /// Two links lead to the file, and each of them moves. A link that takes the place of another one is watched in its place.
    @Test func eachOfTwoLinksIsFollowed() throws {
        let system = CountingWatches()
        for (name, number) in [("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5)] {
            prefs("\(name).plist", system)["a"] = number
        }
        func point(_ link: String, to target: String) {
            let path = folder.file("\(link).plist").path
            #expect(symlink("\(target).plist", path + ".new") == 0 && rename(path + ".new", path) == 0)
        }
        point("middle", to: "one")
        point("other", to: "three")
        point("link", to: "middle")
        let heard = prefs("link.plist", system).observer()
        let moves = [("middle", "two"), ("link", "other"), ("other", "four"), ("link", "five")]
        for (number, (link, target)) in moves.enumerated() {
            point(link, to: target)
            #expect(heard.wait(for: number + 1).last == "Root a: \(number + 1) → \(number + 2) elsewhere", "\(link)")
        }
        #expect(system.watchesLeft(2) == 2)
    }

    /// A link is moved to another link just before its folder is watched. Nothing tells of that, and both are watched.
    @Test func aLinkThatMovesBeforeItIsWatchedIsFollowed() throws {
        let system = CountingWatches()
        for (name, number) in [("one", 1), ("two", 2), ("three", 3)] { prefs("\(name).plist", system)["a"] = number }
        #expect(mkdir(folder.file("in").path, 0o700) == 0 && mkdir(folder.file("aside").path, 0o700) == 0)
        func point(_ link: String, to target: String) {
            let (path, new) = (folder.file(link).path, folder.file("new").path)
            #expect(symlink("../\(target).plist", new) == 0 && rename(new, path) == 0)
        }
        point("aside/other.plist", to: "two")
        point("in/link.plist", to: "one")
        let moves = Heard<String>()
        system.beforeWatch = { path in
            guard path.hasSuffix("/in/link.plist"), moves.all.isEmpty else { return }
            moves.append(path)
            point("in/link.plist", to: "aside/other")
        }
        let heard = prefs("in/link.plist", system).observer()
        #expect(heard.wait(for: 1) == ["Root a: 1 → 2 elsewhere"])
        try #require(moves.all.count == 1 && system.watchesLeft(3) == 3)
        point("aside/other.plist", to: "three")
        #expect(heard.wait(for: 2).last == "Root a: 2 → 3 elsewhere")
    }

    /// System calls of a mounted server, whose changes the system does not tell of.
    private final class Server: SystemCalls, @unchecked Sendable {
        override func reportsChanges(inFolder path: String) -> Bool { false }

        override func watch(
            _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
        ) throws(StorageFailure) -> AnyObject {
            _ = try super.watch(names, handler)
            return names.path as NSString
        }
    }

    /// One thread looks at all files.
    @Test func filesOfAServerAreLookedAt() throws {
        let threads = Heard<ObjectIdentifier>()
        let files = (0..<3).map { folder.file("new/\($0)") }
        let watches = try files.map {
            try FileWatch(FileNames(path: $0.path), system: Server()) {
                threads.append(ObjectIdentifier(Thread.current))
            }
        }
        let prefs = PrefsStore.propertyList(url: folder.file("new/test.plist"), system: Server()).observedPrefs()
        let heard = prefs.observer()
        mkdir(folder.file("new").path, 0o700)
        for file in files { try Data().write(to: file) }
        try writePropertyList(["Root": ["a": 1]], to: folder.file("new/test.plist"))
        #expect(heard.wait(for: 1) == ["Root a: - → 1 elsewhere"])
        #expect(Set(threads.wait(for: 3)).count == 1)
        withExtendedLifetime(watches) {}
    }

    /// `mv a b; mv c a`: another folder takes the name of one on the path.
    @Test(arguments: ["a", "a/b", "a/b/c"])
    func anExchangedFolderIsNoticed(_ exchanged: String) throws {
        let file = folder.file("a/b/c/test.plist")
        let prefs = folder.observedPrefs("a/b/c/test.plist")
        prefs["a"] = 1
        let path = folder.file(exchanged).path
        try FileManager.default.copyItem(atPath: path, toPath: path + ".new")
        let inNew = path + ".new" + file.path.dropFirst(path.utf8.count)
        try writePropertyList(["Root": ["a": 2]], to: URL(filePath: inNew))
        let heard = prefs.observer()
        #expect(rename(path, path + ".old") == 0)
        #expect(rename(path + ".new", path) == 0)
        #expect(heard.wait(for: 1) == ["Root a: 1 → 2 elsewhere"])
        // The new folders are watched.
        try writePropertyList(["Root": ["a": 3]], to: file)
        #expect(heard.wait(for: 2).last == "Root a: 2 → 3 elsewhere")
    }

    @Test func theStoreSaysThatItIsNotWatched() {
        let system = CountingWatches()
        let store = PrefsStore.propertyList(url: folder.file(), system: system)
        system.fail(with: ENOSPC)
        #expect {
            _ = try store.observe(root: "Root") { _ in }
        } throws: {
            if case PrefsError.notWatched = $0 { true } else { false }
        }
        #expect(system.watches == 0)
    }

    /// A folder is made after the folder above is watched and before that watch is registered.
    @Test(arguments: Watcher.allCases)
    func aFolderThatAppearsWhileTheWatchStarts(_ watcher: Watcher) throws {
        let url = folder.file("new/test.plist")
        let system = MakesFolder(url.deletingLastPathComponent().path, watcher)
        let heard = folder.observedPrefs("new/test.plist", system).observer()
        system.handled.wait { !$0.isEmpty }
        try writePropertyList(["Root": ["a": 1]], to: url)
        #expect(heard.wait(for: 1) == ["Root a: - → 1 elsewhere"])
    }

    /// Makes the folder right after it was found missing, and continues once the event is being handled, if possible.
    private final class MakesFolder: WatchedSystemCalls, @unchecked Sendable {
        let path: String
        let handled = Heard<Bool>()
        private let watched = Heard<String>()
        private let isMade = Heard<Bool>()
        private let isHandled = DispatchSemaphore(value: 0)

        init(_ path: String, _ watcher: Watcher) {
            self.path = path
            super.init(watcher)
        }

        override func watch(
            _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
        ) throws(StorageFailure) -> AnyObject {
            let (handled, isHandled) = (handled, isHandled)
            let watch = try super.watch(names) {
                handler($0)
                handled.append(true)
                isHandled.signal()
            }
            watched.append(names.path)
            return watch
        }

        override func status(
            ofPath name: String, in folder: Descriptor, followsLinks: Bool
        ) throws(StorageFailure) -> FileStatus? {
            let status = try super.status(ofPath: name, in: folder, followsLinks: followsLinks)
            if name == path, watched.all.contains(path), isMade.all.isEmpty, status == nil {
                isMade.append(true)
                mkdir(path, 0o700)
                // The other call ends before this one, or waits for it.
                _ = isHandled.wait(timeout: .now() + 0.1)
            }
            return status
        }
    }
}
