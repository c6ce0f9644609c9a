import AppleVnodes
import Foundation

#if os(Linux)
    @testable import AppleFolderWatch
#endif
@testable import PrefsFileEngine

/// The watcher of folders in a test: the watcher of this platform or, on Linux, the watcher for Apple platforms over a
/// model. The model reports events at once (`model`), or late and merged (`lateModel`).
enum Watcher: CaseIterable {
    case system
    #if os(Linux)
        case model, lateModel
    #endif
}

/// The real system calls with a watcher of the test's choice.
class WatchedSystemCalls: SystemCalls, @unchecked Sendable {
    private let watcher: Watcher
    #if os(Linux)
        private let vnodes: ModelVnodes
        private let queue = DispatchQueue(label: "WatchedSystemCalls")
    #endif

    init(_ watcher: Watcher = .system) {
        self.watcher = watcher
        #if os(Linux)
            vnodes = ModelVnodes(delay: watcher == .lateModel ? .milliseconds(3) : nil)
        #endif
    }

    override func watch(
        _ names: FileNames, _ handler: @escaping FolderWatcher.Handler
    ) throws(StorageFailure) -> AnyObject {
        #if os(Linux)
            if watcher != .system { return try FolderWatch(names, vnodes, on: queue, handler) }
        #endif
        return try super.watch(names, handler)
    }
}
