#if canImport(Darwin) || APART
    package import Foundation

    /// Opens files and folders for events and reports what happens to them. Dispatch implements it on Apple platforms, a
    /// model of Dispatch in tests on Linux.
    package protocol VnodeSystem: Sendable {
        /// Works like `open(2)` with `O_EVTONLY | O_CLOEXEC` and these flags: returns −1 and sets `errno` if it fails.
        func open(_ path: String, _ flags: Int32) -> Int32

        func close(_ descriptor: Int32)

        /// Works like `DispatchSource.makeFileSystemObjectSource`. The source is inactive.
        func source(_ descriptor: Int32, _ events: VnodeEvents, on queue: DispatchQueue) -> any VnodeSource
    }

    /// The part of `DispatchSourceFileSystemObject` that the folder watcher uses.
    package protocol VnodeSource: AnyObject, Sendable {
        /// The events that the event handler is called for. Valid in that handler only.
        var data: VnodeEvents { get }

        /// Called once the system reports events. Earlier events are not reported.
        func setRegistrationHandler(_ handler: @escaping @Sendable () -> Void)
        func setEventHandler(_ handler: @escaping @Sendable () -> Void)
        /// Called after `cancel()`. The descriptor must stay open until then.
        func setCancelHandler(_ handler: @escaping @Sendable () -> Void)
        func activate()
        func cancel()
    }

    /// The events of an open file or folder. The values equal `DISPATCH_VNODE_…` in dispatch/source.h.
    package struct VnodeEvents: OptionSet, Sendable {
        package static let delete = VnodeEvents(rawValue: 0x1)
        package static let write = VnodeEvents(rawValue: 0x2)
        package static let extend = VnodeEvents(rawValue: 0x4)
        package static let attrib = VnodeEvents(rawValue: 0x8)
        package static let rename = VnodeEvents(rawValue: 0x20)
        package static let revoke = VnodeEvents(rawValue: 0x40)

        package let rawValue: UInt

        package init(rawValue: UInt) {
            self.rawValue = rawValue
        }
    }
#endif
