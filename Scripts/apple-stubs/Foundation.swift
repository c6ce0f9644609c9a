// What the library uses of Foundation and Dispatch on Apple platforms and Linux does not have. Each comment names the header of
// the macOS SDK, or the module whose swiftinterface declares it. Compiled as a part of the library, where its `NSObject` comes
// before the one of Linux.

public import Foundation

// MARK: - Key-value observing

#if canImport(ObjectiveC)
    public import ObjectiveC

    public typealias NSKeyValueObservingOptions = ObjectiveC.NSKeyValueObservingOptions

    /// NSObject.h, NSKeyValueObserving.h, NSKeyValueCoding.h. What may be overridden in an extension has to be @objc, as there.
    @objc open class NSObject: ObjectiveC.NSObject {
        /// NSObject.h
        @objc open var description: String { "" }
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

    /// ObjectiveC.swiftinterface
    public struct Selector { public init() {} }

    /// Foundation.swiftinterface, as all of key-value observing by Swift key paths. Not declared Sendable here, so that nothing
    /// relies on it.
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
            changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
        ) -> NSKeyValueObservation { NSKeyValueObservation() }
    }
#else
    /// NSKeyValueObserving.h
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

/// NSKeyValueObserving.h
public struct NSKeyValueChangeKey: Hashable, Sendable {
    public let rawValue: String
}

/// NSKeyValueObserving.h, in NSObject there. NSUserDefaults.h says NS_SWIFT_SENDABLE. Linux says unavailable, which cannot be
/// taken back here and is the stricter one.
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

// MARK: - Dispatch.swiftinterface: all but the type of the events

extension DispatchSource.FileSystemEvent {
    static var delete: Self { Self(rawValue: 1) }
    static var write: Self { Self(rawValue: 2) }
    static var extend: Self { Self(rawValue: 4) }
    static var attrib: Self { Self(rawValue: 8) }
    static var rename: Self { Self(rawValue: 32) }
    static var revoke: Self { Self(rawValue: 64) }
}

protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {
    var handle: Int32 { get }
    var mask: DispatchSource.FileSystemEvent { get }
    var data: DispatchSource.FileSystemEvent { get }
}

extension DispatchSource {
    static func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject { fatalError() }
}
