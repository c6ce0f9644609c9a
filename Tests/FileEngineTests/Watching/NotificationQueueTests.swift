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
    }
#endif
