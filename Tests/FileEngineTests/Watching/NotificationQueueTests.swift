#if os(Linux) || os(Android)
    import Foundation
    import TestSupport
    import Testing

    @testable import EngineSupport
    @testable import PrefsFileEngine

    /// The handling of the kernel's events.
    @Suite(.waits) struct NotificationQueueTests {
        /// If too many events wait, the kernel drops some and reports that by an event without a folder
        /// (IN_Q_OVERFLOW).
        @Test func everyHandlerIsNotifiedOfLostEvents() throws {
            let folders = try [TemporaryFolder(), TemporaryFolder()]
            let queue = try NotificationQueue()
            let heard = Heard<String>()
            for (number, folder) in folders.enumerated() {
                for name in ["a", "b"] {
                    _ = try queue.add(FileNames(path: folder.file(name).path)) {
                        heard.append("\(number) \(name) \($0)")
                    }
                }
            }
            var event = inotify_event()
            (event.wd, event.mask) = (-1, UInt32(IN_Q_OVERFLOW))
            for (handler, isGone) in withUnsafeBytes(of: event, queue.handlers(for:)) { handler(isGone) }
            // All handlers are called, because the folder may have been removed.
            #expect(heard.all.sorted() == ["0 a true", "0 b true", "1 a true", "1 b true"])
        }

        // MARK: - The kernel's own events

        /// Waits until the handlers of all events so far have been called. What happens after one of them was called is read
        /// after all of its read.
        private func settle() throws {
            let folder = try TemporaryFolder()
            let path = folder.path + "/settled"
            try Data().write(to: folder.file("settled"))
            let heard = Heard<Bool>()
            let watch = try FolderWatcher.shared.watch(FileNames(path: path), heard.append)
            for count in 1...2 {
                chmod(path, 0o600)
                heard.wait { $0.count >= count }
            }
            withExtendedLifetime(watch) {}
        }

        /// The ways to change a name by one call.
        enum Call: CaseIterable {
            case linked, symlinked, folderMade, pipeMade, renamedTo, renamedOver, renamedFrom, removed, cutOff, newMode,
                newTimes

            var needsFile: Bool { ![.linked, .symlinked, .folderMade, .pipeMade, .renamedTo].contains(self) }

            /// - Parameter other: an existing file beside it.
            func change(_ name: String, _ other: String) -> Int32 {
                switch self {
                case .linked: link(other, name)
                case .symlinked: symlink(other, name)
                case .folderMade: mkdir(name, 0o700)
                case .pipeMade: mkfifo(name, 0o600)
                case .renamedTo, .renamedOver: rename(other, name)
                case .renamedFrom: rename(name, name + ".aside")
                case .removed: unlink(name)
                case .cutOff: truncate(name, 0)
                case .newMode: chmod(name, 0o640)
                case .newTimes: utimes(name, nil)
                }
            }
        }

        @Test func eachCallThatChangesANameIsHeard() throws {
            for call in Call.allCases {
                let folder = try TemporaryFolder()
                let (name, other) = (folder.path + "/test.plist", folder.path + "/other")
                try Data("1".utf8).write(to: folder.file("other"))
                if call.needsFile { try Data("1".utf8).write(to: folder.file()) }
                let heard = Heard<Bool>(), others = Heard<Bool>()
                let watches = try [
                    FolderWatcher.shared.watch(FileNames(path: name), heard.append),
                    FolderWatcher.shared.watch(FileNames(path: folder.path + "/third"), others.append),
                ]
                #expect(call.change(name, other) == 0)
                try settle()
                #expect(Set(heard.all) == [false] && others.all == [], "\(call)")
                // Others would wait for such an event in vain.
                if heard.all.isEmpty { Patience.giveUp() }
                withExtendedLifetime(watches) {}
            }
        }

        /// Whichever is watched first, and whichever ends first.
        @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]])
        func foldersBelowEachOtherAreWatched(_ order: [Int]) throws {
            let folder = try TemporaryFolder()
            let folders = ["", "/in", "/in/deep"].map { folder.path + $0 }
            for path in folders.dropFirst() { mkdir(path, 0o700) }
            for path in folders { try Data().write(to: URL(filePath: path + "/x")) }
            let heard = Heard<String>()
            var (watches, taken): ([Int: AnyObject], Int) = ([:], 0)
            func hear(_ change: () -> Int32) throws -> [String] {
                #expect(change() == 0)
                try settle()
                defer { taken = heard.all.count }
                return heard.all[taken...].sorted()
            }
            func expectEach() throws {
                for (number, path) in folders.enumerated() {
                    let expected = watches[number] == nil ? [] : ["\(number) false"]
                    let heard = try hear { chmod(path + "/x", 0o600) }
                    #expect(heard == expected, "\(number), watched: \(watches.keys.sorted())")
                    if heard.isEmpty, !expected.isEmpty { Patience.giveUp() }
                }
            }
            for number in order {
                watches[number] = try FolderWatcher.shared.watch(FileNames(path: folders[number] + "/x")) {
                    heard.append("\(number) \($0)")
                }
                try expectEach()
            }
            // The end of a folder concerns those below it.
            #expect(try hear { rename(folders[1], folders[1] + ".aside") } == ["1 true", "2 true"])
            #expect(try hear { rename(folders[1] + ".aside", folders[1]) } == ["1 true", "2 true"])
            for number in order {
                watches[number] = nil
                try expectEach()
                let left = [1, 2].filter { watches[$0] != nil }.map { "\($0) true" }
                #expect(try hear { rename(folders[1], folders[1] + ".aside") } == left)
                #expect(try hear { rename(folders[1] + ".aside", folders[1]) } == left)
            }
        }

        /// The folders above are watched before it fails. It leaves nothing there, and the watches of others stay.
        @Test func aWatchThatCannotBeginLeavesNothing() throws {
            let folder = try TemporaryFolder()
            let queue = try NotificationQueue()
            mkdir(folder.file("in").path, 0o700)
            let heard = Heard<String>()
            let names = FileNames(path: folder.path + "/in/missing/x")
            _ = try queue.add(FileNames(path: folder.path + "/in/x")) { heard.append("own \($0)") }
            #expect(throws: StorageFailure("inotify_add_watch", names.folder, code: ENOENT)) {
                try queue.add(names) { heard.append("failed \($0)") }
            }
            var event = inotify_event()
            (event.wd, event.mask) = (-1, UInt32(IN_Q_OVERFLOW))
            for (handler, isGone) in withUnsafeBytes(of: event, queue.handlers(for:)) { handler(isGone) }
            #expect(heard.all == ["own true"])
        }

        // MARK: - Events in memory

        /// The event of a name, as the kernel writes it.
        private func event(of name: String, in folder: Int32, _ mask: Int32) -> [UInt8] {
            var event = inotify_event()
            (event.wd, event.mask, event.len) = (folder, UInt32(mask), 16)
            return withUnsafeBytes(of: event, Array.init) + Array(name.utf8)
                + [UInt8](repeating: 0, count: 16 - name.utf8.count)
        }

        /// Of a thousand names, whose handlers hear nothing of the others. The folder's end concerns all.
        @Test func anEventConcernsItsNameAndTheWholeFolder() throws {
            let folder = try TemporaryFolder()
            let queue = try NotificationQueue()
            let heard = Heard<String>()
            let names = ["", "inner/x"] + (0..<1_000).map { "\($0)" }
            try FileManager.default.createDirectory(at: folder.file("inner"), withIntermediateDirectories: false)
            let all = try names.map { name in
                try queue.add(FileNames(path: folder.path + "/" + name)) { heard.append("\(name) \($0)") }
            }
            let number = try #require(all[0].places.last?.folder)
            func hear(_ event: [UInt8]) -> [String] {
                let before = heard.all.count
                for (handler, isGone) in event.withUnsafeBytes(queue.handlers(for:)) { handler(isGone) }
                return heard.all[before...].sorted()
            }
            #expect(hear(event(of: "7", in: number, IN_MOVED_TO)) == [" false", "7 false"])
            #expect(hear(event(of: "other", in: number, IN_CREATE)) == [" false"])
            let both = event(of: "7", in: number, IN_MODIFY) + event(of: "8", in: number, IN_MODIFY)
            #expect(hear(both) == [" false", "7 false", "8 false"])
            // Another event that is read with it takes nothing of that back, whichever comes first.
            let (end, change) = (event(of: "", in: number, IN_MOVE_SELF), event(of: "7", in: number, IN_MODIFY))
            for events in [end, end + change, change + end] {
                #expect(hear(events) == names.map { "\($0) true" }.sorted())
            }
            // The last handlers of a name are released, and those of others stay.
            _ = (queue.remove(all[9]), queue.remove(all[0]))
            #expect(hear(event(of: "7", in: number, IN_MODIFY)) == [])
            #expect(hear(event(of: "8", in: number, IN_MODIFY)) == ["8 false"])
        }
    }
#endif
