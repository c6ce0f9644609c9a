// What the library uses of Foundation, Dispatch and Darwin on Apple platforms and Linux does not have, with the signatures
// that the macOS SDK has. Compiled as a part of the library, where its `NSObject` comes before the one of Linux.

public import Foundation

// MARK: - Key-value observing

#if canImport(ObjectiveC)
    public import ObjectiveC

    public typealias NSKeyValueObservingOptions = ObjectiveC.NSKeyValueObservingOptions

    /// What may be overridden in an extension has to be @objc, as there.
    @objc open class NSObject: ObjectiveC.NSObject {
        @objc open dynamic var observationInfo: UnsafeMutableRawPointer?
        @objc open dynamic func addObserver(
            _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
            context: UnsafeMutableRawPointer?
        ) {}
        @objc open dynamic func willChangeValue(forKey key: String) {}
        @objc open dynamic func didChangeValue(forKey key: String) {}
        @objc open dynamic func value(forKey key: String) -> Any? { nil }
        @objc open dynamic class func automaticallyNotifiesObservers(forKey key: String) -> Bool { true }
        @objc open dynamic class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }
        open func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {}
        open func isEqual(_ object: Any?) -> Bool { false }
        open func responds(to aSelector: Selector!) -> Bool { false }
    }

    public struct Selector {}
    func NSSelectorFromString(_ aSelectorName: String) -> Selector { Selector() }

    func class_getInstanceVariable(_ cls: AnyClass?, _ name: UnsafePointer<CChar>) -> OpaquePointer? { nil }

    public class NSKeyValueObservation: NSObject {
        public func invalidate() {}
    }

    public struct NSKeyValueObservedChange<Value> {
        public let newValue: Value?
        public let oldValue: Value?
    }

    public protocol _KeyValueCodingAndObserving {}
    extension NSObject: _KeyValueCodingAndObserving {}
    extension _KeyValueCodingAndObserving {
        public func observe<Value>(
            _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
            changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
        ) -> NSKeyValueObservation { NSKeyValueObservation() }
    }
#else
    public struct NSKeyValueObservingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }

    open class NSObject: Foundation.NSObject {
        open func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {}
    }
#endif

public struct NSKeyValueChangeKey: Hashable, Sendable {
    public let rawValue: String
}

extension UserDefaults {
    func addObserver(
        _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
        context: UnsafeMutableRawPointer?
    ) {}
    func removeObserver(_ observer: NSObject, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?) {}
    /// NSUserDefaults.h: whether a managed value hides the one of the domain.
    func objectIsForced(forKey key: String) -> Bool { false }
}

extension FileManager {
    /// NSFileManager.h: nil for a group that the program does not belong to.
    func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { nil }
}

// MARK: - Dispatch: all but the type of the events

extension DispatchSource.FileSystemEvent {
    static var delete: Self { Self(rawValue: 1) }
    static var write: Self { Self(rawValue: 2) }
    static var extend: Self { Self(rawValue: 4) }
    static var attrib: Self { Self(rawValue: 8) }
    static var rename: Self { Self(rawValue: 32) }
    static var revoke: Self { Self(rawValue: 64) }
}

protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {
    var data: DispatchSource.FileSystemEvent { get }
}

extension DispatchSource {
    static func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject { fatalError() }
}

// MARK: - Darwin

let O_EVTONLY: Int32 = 0x8000
let F_FULLFSYNC: Int32 = 51
/// sys/fcntl.h: the protection class of an open file.
let F_GETPROTECTIONCLASS: Int32 = 63
let F_SETPROTECTIONCLASS: Int32 = 64
/// sys/fcntl.h, from macOS 11 and iOS 14 on.
let O_NOFOLLOW_ANY: Int32 = 0x2000_0000

// sys/acl.h
struct acl_type_t {}
let ACL_TYPE_EXTENDED = acl_type_t()
func acl_get_fd_np(_ descriptor: Int32, _ type: acl_type_t) -> OpaquePointer! { fatalError() }
func acl_set_fd_np(_ descriptor: Int32, _ list: OpaquePointer!, _ type: acl_type_t) -> Int32 { fatalError() }
func acl_init(_ count: Int32) -> OpaquePointer! { fatalError() }
@discardableResult func acl_free(_ list: UnsafeMutableRawPointer!) -> Int32 { fatalError() }

// copyfile.h
typealias copyfile_flags_t = UInt32
let COPYFILE_XATTR: Int32 = 4
func fcopyfile(_ from: Int32, _ to: Int32, _ state: OpaquePointer?, _ flags: copyfile_flags_t) -> Int32 { fatalError() }

extension stat {
    var st_mtimespec: timespec { st_mtim }
    var st_ctimespec: timespec { st_ctim }
}
