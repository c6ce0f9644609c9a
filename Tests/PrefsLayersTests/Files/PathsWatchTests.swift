import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsLayers

/// Several files and folders that are watched together.
@Suite struct PathsWatchTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func put(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: folder.file(name))
    }

    @Test(arguments: Watcher.allCases)
    func aSlashStandsForEveryNameInAFolder(_ watcher: Watcher) throws {
        let heard = Heard<Bool>()
        let watch = PathsWatch(system: WatchedSystemCalls(watcher)) { heard.append(true) }
        let first = watch.update([folder.path + "/"])
        #expect(first.hasBegun && first.failure == nil)
        try put("1", "a")
        heard.wait { !$0.isEmpty }
        try FileManager.default.removeItem(at: folder.file("a"))
        let count = heard.all.count
        try put("1", "b")
        heard.wait { $0.count > count }
    }

    @Test func pathsAreExchanged() throws {
        let heard = Heard<Bool>()
        let watch = PathsWatch { heard.append(true) }
        let (one, other) = (folder.file("one").path, folder.file("other").path)
        #expect(watch.update([one]).hasBegun)
        let same = watch.update([one])
        #expect(!same.hasBegun && same.failure == nil)
        #expect(watch.update([one, other]).hasBegun)
        try put("1", "other")
        heard.wait { !$0.isEmpty }
        // One that ends is nothing that begins.
        #expect(!watch.update([other]).hasBegun)
        #expect(watch.update([one]).hasBegun)
    }

    /// A process may have no inotify queue left.
    private final class FailingSystemCalls: SystemCalls, @unchecked Sendable {
        let isFailing = Locked(true)
        /// The only name that fails; nil for all.
        let name: String?

        init(_ name: String? = nil) { self.name = name }

        override func watch(
            _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
        ) throws(StorageFailure) -> AnyObject {
            if isFailing.withLock({ $0 }), name == nil || names.file == name {
                throw StorageFailure("inotify_init", "", code: EMFILE)
            }
            return try super.watch(names, handler)
        }
    }

    @Test func whatCannotBeWatchedIsReportedAgainAndAgain() throws {
        let heard = Heard<Bool>()
        let system = FailingSystemCalls()
        let watch = PathsWatch(system: system) { heard.append(true) }
        let path = folder.file("a").path
        let failed = watch.update([path])
        #expect(!failed.hasBegun && failed.failure?.code == EMFILE)
        heard.wait { !$0.isEmpty }
        system.isFailing.withLock { $0 = false }
        let healed = watch.update([path])
        #expect(healed.hasBegun && healed.failure == nil)
    }

    /// The failure is told, and the others are watched, those before it and those behind it.
    @Test(arguments: ["a", "b", "c"]) func onePathThatCannotBeWatchedEndsNoOther(_ name: String) throws {
        let system = FailingSystemCalls(name)
        let watch = PathsWatch(system: system) {}
        let paths = Set(["a", "b", "c"].map { folder.file($0).path })
        let first = watch.update(paths)
        #expect(first.hasBegun && first.failure?.code == EMFILE)
        // Those that are watched do not begin again.
        let second = watch.update(paths)
        #expect(!second.hasBegun && second.failure?.code == EMFILE)
        system.isFailing.withLock { $0 = false }
        let others = watch.update(paths.filter { $0 != folder.file(name).path })
        #expect(!others.hasBegun && others.failure == nil)
    }
}
