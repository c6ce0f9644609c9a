// What the drop-in uses of Foundation on Apple platforms is that of the library's stubs. Compiled as a part of the drop-in.

public import PersistentPreferences

#if canImport(ObjectiveC)
    public typealias NSObject = PersistentPreferences.NSObject
    public typealias NSKeyValueObservingOptions = PersistentPreferences.NSKeyValueObservingOptions
    typealias Selector = PersistentPreferences.Selector

    /// NSObjCRuntime.h and objc/runtime.h
    func NSSelectorFromString(_ aSelectorName: String) -> Selector { Selector() }
    func class_getInstanceVariable(_ cls: AnyClass?, _ name: UnsafePointer<CChar>) -> OpaquePointer? { nil }
#endif
