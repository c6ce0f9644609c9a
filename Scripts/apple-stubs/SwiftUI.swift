// What PrefsUI and the sample use of SwiftUI, as SwiftUI.swiftinterface and SwiftUICore.swiftinterface of the
// macOS SDK declare it.

public import Observation

@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
    public init(
        get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { self }
    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        fatalError()
    }
}

public protocol DynamicProperty {
    mutating func update()
}

extension DynamicProperty {
    public mutating func update() {}
}

@propertyWrapper
public struct State<Value>: DynamicProperty {
    public init(wrappedValue: Value) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}

@propertyWrapper @dynamicMemberLookup
public struct Bindable<Value> {
    public var wrappedValue: Value { object }
    private let object: Value
    public var projectedValue: Bindable<Value> { self }

    // Because of this one the initializer of a view takes the object itself.
    @available(*, unavailable)
    public init(wrappedValue: Value) { object = wrappedValue }
}

extension Bindable where Value: AnyObject, Value: Observable {
    public init(wrappedValue: Value) { object = wrappedValue }
    public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> {
        fatalError()
    }
}

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { return fatalError() }
}

@resultBuilder public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Group { Group() }
}

public struct Group: View {
    public typealias Body = Never
    public var body: Never { return fatalError() }
}

public struct Toggle: View {
    public init(_ title: String, isOn: Binding<Bool>) {}
    public typealias Body = Never
    public var body: Never { return fatalError() }
}

public struct Stepper: View {
    public init(_ title: String, value: Binding<Int>) {}
    public typealias Body = Never
    public var body: Never { return fatalError() }
}
