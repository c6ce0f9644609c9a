#if canImport(Darwin)
    import Foundation
    import PrefsPropertyLists

    /// Watches folders by Dispatch's file system sources.
    final class FolderWatcher: Sendable {
        static let shared = FolderWatcher()

        /// - Parameter isGone: whether the folder itself is no longer at its path.
        typealias Handler = @Sendable (_ isGone: Bool) -> Void

        private let queue = DispatchQueue(label: "PersistentPreferences.FolderWatcher")

        /// Calls the handler, on a private queue, when something happens to a name in a folder, or to another name
        /// there, until the returned object is released.
        func watch(_ names: FileNames, _ handler: @escaping Handler) throws(StorageFailure) -> AnyObject {
            try FolderWatch(names, DispatchVnodes(), on: queue, handler)
        }
    }

    /// The system's own sources. Type-checked only: never run.
    private struct DispatchVnodes: VnodeSystem {
        func open(_ path: String, _ flags: Int32) -> Int32 {
            StandardStreams.above(Foundation.open(path, O_EVTONLY | O_CLOEXEC | flags))
        }

        func close(_ descriptor: Int32) {
            _ = Foundation.close(descriptor)
        }

        func source(_ descriptor: Int32, _ events: VnodeEvents, on queue: DispatchQueue) -> any VnodeSource {
            DispatchVnodeSource(
                DispatchSource.makeFileSystemObjectSource(
                    fileDescriptor: descriptor, eventMask: DispatchSource.FileSystemEvent(rawValue: events.rawValue),
                    queue: queue))
        }
    }

    /// Unchecked because Dispatch's sources, which may be used from any thread, are not Sendable.
    private final class DispatchVnodeSource: VnodeSource, @unchecked Sendable {
        private let source: any DispatchSourceFileSystemObject

        init(_ source: any DispatchSourceFileSystemObject) {
            self.source = source
        }

        var data: VnodeEvents { VnodeEvents(rawValue: source.data.rawValue) }

        func setRegistrationHandler(_ handler: @escaping @Sendable () -> Void) {
            source.setRegistrationHandler(handler: handler)
        }

        func setEventHandler(_ handler: @escaping @Sendable () -> Void) {
            source.setEventHandler(handler: handler)
        }

        func setCancelHandler(_ handler: @escaping @Sendable () -> Void) {
            source.setCancelHandler(handler: handler)
        }

        func activate() { source.activate() }

        func cancel() { source.cancel() }
    }
#endif
