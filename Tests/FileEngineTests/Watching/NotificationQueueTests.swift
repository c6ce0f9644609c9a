#if os(Linux) || os(Android)
    import Foundation
    import TestSupport
    import Testing

    @testable import EngineSupport
    @testable import PrefsFileEngine

    /// The handling of the kernel's events.
    @Suite struct NotificationQueueTests {
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
