#if os(Linux)
    import AppleVnodes
    import Foundation
    import PrefsPropertyLists
    import TestSupport
    import Testing

    @testable import AppleFolderWatch
    @testable import EngineSupport
    @testable import PrefsFileEngine

    /// The folder watcher for Apple platforms, over a model of its event sources whose steps wait until the test
    /// releases them.
    @Suite final class FolderWatchTests: FolderSuite {
        private let violations = Heard<String>()
        private lazy var vnodes = ModelVnodes(violated: violations.append)
        private let queue = DispatchQueue(label: "FolderWatchTests")
        /// For each call of the handler, whether the folder was removed.
        private let signs = Heard<Bool>()
        private var url: URL { folder.file("home/test.plist") }

        override init() throws {
            try super.init()
            #expect(mkdir(folder.file("home").path, 0o700) == 0)
            vnodes.hold(.registration, .event)
        }

        private var watch: FolderWatch?
        /// The number of signs that `takeSigns` has returned.
        private var taken = 0

        private func watch(system: SystemCalls = .real) throws {
            watch = try FolderWatch(FileNames(path: url.path), vnodes, system: system, on: queue, signs.append)
        }

        /// Runs all waiting steps and the steps that follow. Returns the calls of the handler in that time.
        private func takeSigns() -> [Bool] {
            // Releases the registration or the event of the folder, then that of the file, and again if the file has
            // changed.
            for _ in 0..<4 { vnodes.release() }
            defer { taken = signs.all.count }
            return Array(signs.all.dropFirst(taken))
        }

        deinit { end() }

        /// Ends the watch. No descriptor may stay open, and no rule may have been broken.
        private func end() {
            watch = nil
            queue.sync {}
            #expect(vnodes.openDescriptors == [])
            #expect(violations.all == [])
        }

        private func writeInPlace(_ text: String) throws {
            try Data(text.utf8).write(to: url)
        }

        private func replace(_ text: String) throws {
            let new = folder.file("new")
            try Data(text.utf8).write(to: new)
            #expect(rename(new.path, url.path) == 0)
        }

        private var home: String { url.deletingLastPathComponent().path }

        /// Makes a file with old times, so that its age never causes a report.
        private func makeOld(_ text: String = "1") throws -> SystemCalls {
            try writeInPlace(text)
            return RecordingSystemCalls()
        }

        // MARK: - Before a source is registered

        enum Early: CaseIterable { case made, removed, replaced, writtenInPlace, turnedIntoLink, turnedIntoFIFO }

        /// The folder's source has no event of a change between the beginning of the watch and its registration.
        @Test(arguments: Early.allCases)
        func aChangeBeforeTheFolderIsRegistered(_ change: Early) throws {
            let system = change == .made ? RecordingSystemCalls() : try makeOld()
            try watch(system: system)
            switch change {
            case .made, .writtenInPlace: try writeInPlace("longer")
            case .removed: #expect(unlink(url.path) == 0)
            case .replaced: try replace("2")
            case .turnedIntoLink:
                #expect(symlink("elsewhere", folder.file("new").path) == 0)
                #expect(rename(folder.file("new").path, url.path) == 0)
            case .turnedIntoFIFO:
                #expect(mkfifo(folder.file("new").path, 0o600) == 0)
                #expect(rename(folder.file("new").path, url.path) == 0)
            }
            #expect(takeSigns() == [false])
            // A regular file is watched now.
            if [.made, .replaced, .writtenInPlace].contains(change) {
                try writeInPlace("in place")
                #expect(takeSigns() == [false])
            }
        }

        enum Loss: CaseIterable { case removed, removedAndMade, moved }

        @Test(arguments: Loss.allCases, [true, false])
        func aFolderThatIsLost(_ loss: Loss, beforeItIsRegistered isEarly: Bool) throws {
            try watch(system: makeOld())
            if !isEarly { #expect(takeSigns() == []) }
            if loss == .moved {
                #expect(rename(home, folder.file("aside").path) == 0)
            } else {
                try FileManager.default.removeItem(atPath: home)
                if loss == .removedAndMade { #expect(mkdir(home, 0o700) == 0) }
            }
            #expect(takeSigns().contains(true))
        }

        /// A new file is written to again before its source is registered. If the clock stands, both writes leave equal
        /// times, as on a volume that counts whole seconds.
        @Test(arguments: [true, false]) func aWriteRightAfterTheFileIsMade(_ isClockStanding: Bool) throws {
            try watch(system: isClockStanding ? StoppedClock() : RecordingSystemCalls())
            #expect(takeSigns() == [])
            try writeInPlace("1")
            // The folder's event. The source of the file is activated, not yet registered, and the handler looks.
            vnodes.release()
            #expect(signs.all == [false])
            // In the first case, the size stays, too.
            try writeInPlace(isClockStanding ? "2" : "1, and more")
            #expect(takeSigns() == [false, false])
        }

        // MARK: - Which file is watched

        @Test(arguments: [true, false])
        func aFileThatIsReplacedTwiceBetweenTwoEvents(_ isSecondLate: Bool) throws {
            try watch(system: makeOld())
            #expect(takeSigns() == [])
            try replace("2")
            // The second file comes while the source of the first file is activated and not yet registered.
            if isSecondLate { vnodes.release() }
            try replace("3")
            #expect(takeSigns().contains(false))
            // The newest file is watched.
            try writeInPlace("4, in place")
            #expect(takeSigns() == [false])
        }

        /// The file is replaced between the check of its name and its opening.
        @Test func aFileThatIsReplacedWhileItIsOpened() throws {
            try watch(system: makeOld())
            let (new, path) = (folder.file("new"), url.path)
            try Data("2".utf8).write(to: new)
            vnodes.onOpen = { opened in
                if opened == path { rename(new.path, path) }
                return nil
            }
            #expect(takeSigns().contains(false))
            vnodes.onOpen = nil
            try writeInPlace("in place")
            #expect(takeSigns() == [false])
        }

        /// Only a regular file is watched, even if another kind of file takes its name between the check and the
        /// opening.
        @Test(arguments: [true, false])
        func aFIFOIsNotWatched(_ isLate: Bool) throws {
            let system = try makeOld()
            let (new, path) = (folder.file("new").path, url.path)
            #expect(mkfifo(new, 0o600) == 0)
            if !isLate { #expect(rename(new, path) == 0) }
            try watch(system: system)
            vnodes.onOpen = { opened in
                if isLate, opened == path { rename(new, path) }
                return nil
            }
            _ = takeSigns()
            vnodes.onOpen = nil
            // Only the folder has a descriptor, not the FIFO.
            try #require(vnodes.openDescriptors.count == 1)
            #expect(vnodes.opensEver == (isLate ? 2 : 1))
            // A file that replaces the FIFO is watched again.
            try replace("3")
            #expect(takeSigns().contains(false))
            try writeInPlace("in place")
            #expect(takeSigns() == [false])
        }

        /// A folder has many events that do not concern the file.
        @Test func theSourceOfTheSameFileStays() throws {
            try watch(system: makeOld())
            #expect(takeSigns() == [])
            #expect(vnodes.opensEver == 2)
            for number in 0..<10 {
                try Data().write(to: folder.file("home/other \(number)"))
                #expect(takeSigns() == [false])
            }
            #expect(vnodes.opensEver == 2)
        }

        /// An open file reports that it can be opened again, after an event of its folder that came while it could not
        /// be opened.
        @Test func aFileThatCannotBeOpenedForAWhile() throws {
            try watch(system: makeOld())
            #expect(takeSigns() == [])
            let path = url.path
            chmod(path, 0)
            vnodes.onOpen = { $0 == path ? EACCES : nil }
            try Data().write(to: folder.file("home/other"))
            #expect(takeSigns().contains(false))
            vnodes.onOpen = nil
            chmod(path, 0o600)
            #expect(takeSigns() == [false])
        }

        // MARK: - The end

        enum End: CaseIterable { case unregistered, registered, withWaitingEvents }

        @Test(arguments: End.allCases)
        func afterTheEndNothingIsReported(_ end: End) throws {
            try watch(system: makeOld())
            if end != .unregistered { for _ in 0..<4 { vnodes.release() } }
            if end == .withWaitingEvents {
                try writeInPlace("in place")
                try replace("2")
            }
            self.end()
            try writeInPlace("later")
            vnodes.resume()
            #expect(signs.all == [])
            #expect(violations.all == [])
        }

        @Test func aHandlerMayEndTheWatch() throws {
            nonisolated(unsafe) var own: FolderWatch?
            let system = try makeOld()
            own = try FolderWatch(FileNames(path: url.path), vnodes, system: system, on: queue) { [signs] in
                own = nil
                signs.append($0)
            }
            vnodes.release()
            vnodes.release()
            try writeInPlace("2")
            vnodes.release()
            #expect(signs.all == [false] && own == nil)
        }

        @Test func aFolderThatCannotBeOpenedOrReadIsReported() throws {
            let path = home
            for code in [EMFILE, EACCES, ENOENT] {
                vnodes.onOpen = { $0 == path ? code : nil }
                #expect(throws: StorageFailure("open", path, code: code)) { try watch() }
            }
            vnodes.onOpen = nil
            let system = RecordingSystemCalls()
            system.fail("fstat", with: EIO)
            #expect(throws: StorageFailure("fstat", home, code: EIO)) { try watch(system: system) }
        }

        /// The child also does not touch the sources of its parent.
        @Test func aForkedChildWatchesNothing() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder()
                let names = FileNames(path: folder.file().path)
                try Data().write(to: folder.file())
                // Ends the process if a rule is broken.
                let vnodes = ModelVnodes()
                let queue = DispatchQueue(label: "FolderWatchTests")
                var watch: FolderWatch? = try FolderWatch(names, vnodes, on: queue) { _ in }
                while vnodes.opensEver < 2 { sched_yield() }
                queue.sync {}
                let child = fork()
                if child == 0 {
                    watch = nil
                    do throws(StorageFailure) {
                        _ = try FolderWatch(names, vnodes, on: queue) { _ in }
                        _exit(1)
                    } catch {
                        _exit(error.reason == "cannot be watched in a forked process" ? 0 : 2)
                    }
                }
                var status: Int32 = -1
                waitpid(child, &status, 0)
                withExtendedLifetime(watch) {}
                if status != 0 { exit(1) }
            }
        }

        /// Sources whose events the test makes.
        private final class MadeVnodes: VnodeSystem, @unchecked Sendable {
            final class Source: VnodeSource, @unchecked Sendable {
                var data: VnodeEvents = []
                var handlers: [String: @Sendable () -> Void] = [:]
                func setRegistrationHandler(_ handler: @escaping @Sendable () -> Void) {
                    handlers["registered"] = handler
                }
                func setEventHandler(_ handler: @escaping @Sendable () -> Void) { handlers["event"] = handler }
                func setCancelHandler(_ handler: @escaping @Sendable () -> Void) { handlers["cancel"] = handler }
                func activate() {}
                func cancel() { handlers["cancel"]?() }
            }

            var sources: [(events: VnodeEvents, source: Source)] = []
            func open(_ path: String, _ flags: Int32) -> Int32 { Foundation.open(path, O_RDONLY | O_CLOEXEC | flags) }
            func close(_ descriptor: Int32) { _ = Foundation.close(descriptor) }
            func source(_ descriptor: Int32, _ events: VnodeEvents, on queue: DispatchQueue) -> any VnodeSource {
                sources.append((events, Source()))
                return sources[sources.count - 1].source
            }
        }

        /// A volume that is ejected revokes its files.
        @Test func eachEventTellsWhetherTheFolderIsGone() throws {
            let made = MadeVnodes()
            let watch = try FolderWatch(
                FileNames(path: url.path), made, system: makeOld(), on: queue, signs.append)
            let (folder, ends) = (try #require(made.sources.first), [VnodeEvents.delete, .rename, .revoke])
            #expect(folder.events == [.write, .delete, .rename, .revoke])
            folder.source.handlers["registered"]?()
            for events in ends + ends.map({ [.write, $0] }) + [[.write], []] {
                folder.source.data = events
                folder.source.handlers["event"]?()
            }
            #expect(signs.all == [true, true, true, true, true, true, false, false])
            let file = try #require(made.sources.last)
            #expect(made.sources.count == 2 && file.events == [.write, .extend, .attrib, .delete, .rename])
            file.source.handlers["event"]?()
            #expect(signs.all.last == false && signs.all.count == 9)
            withExtendedLifetime(watch) {}
        }

        /// It may still be there.
        @Test func aFolderThatCannotBeExaminedIsNotGone() throws {
            let system = RecordingSystemCalls()
            try writeInPlace("1")
            try watch(system: system)
            let looks = Locked(0)
            system.onCall = { call throws(StorageFailure) in
                guard call == "stat" else { return }
                // The first one is of the file.
                let number = looks.withLock { looks in
                    looks += 1
                    return looks
                }
                if number == 2 { throw StorageFailure("stat", "", code: EACCES) }
            }
            #expect(takeSigns() == [])
            #expect(looks.withLock { $0 } >= 2)
            system.onCall = nil
        }

        // MARK: - Descriptors

        @Test func thousandsOfFilesAndWatchesLeaveNoDescriptor() throws {
            let system = try makeOld()
            try watch(system: system)
            vnodes.resume()
            for number in 1...2_000 {
                try replace("\(number)")
                // Calls come one by one, or several become one; the file has a new source each time.
                if number % 50 == 0 { vnodes.release() }
                _ = try FolderWatch(FileNames(path: url.path), vnodes, system: system, on: queue) { _ in }
            }
            queue.sync {}
            queue.sync {}
            #expect(vnodes.opensEver > 2_000)
            #expect(vnodes.openDescriptors.count <= 2)
        }
    }

    /// Swift marks it unavailable.
    @_silgen_name("fork") private func fork() -> pid_t
#endif
