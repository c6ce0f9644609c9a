// What the library and the sample use of Combine, with the signatures of Apple's documentation
// (https://developer.apple.com/documentation/combine). Nothing here is Sendable, as there.

public protocol CustomCombineIdentifierConvertible {
    var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
    public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}

public struct CombineIdentifier: Hashable {
    public init(_ object: AnyObject) {}
}

public protocol Cancellable {
    func cancel()
}

public final class AnyCancellable: Cancellable, Hashable {
    public init(_ cancel: @escaping () -> Void) {}
    public func cancel() {}
    public func hash(into hasher: inout Hasher) {}
    public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }
    public func store(in set: inout Set<AnyCancellable>) {}
}

public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
    func request(_ demand: Subscribers.Demand)
}

public enum Subscriptions {
    public static var empty: any Subscription { fatalError() }
}

public enum Subscribers {
    public struct Demand: Equatable, Comparable, Hashable {
        public static var unlimited: Demand { Demand() }
        public static var none: Demand { Demand() }
        public static func max(_ value: Int) -> Demand { Demand() }
        public static func < (left: Demand, right: Demand) -> Bool { false }
        /// nil if it is unlimited.
        public var max: Int? { nil }
    }

    public enum Completion<Failure: Error> {
        case finished
        case failure(Failure)
    }
}

public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
    associatedtype Input
    associatedtype Failure: Error
    func receive(subscription: any Subscription)
    func receive(_ input: Input) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<Failure>)
}

public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure
}

extension Publisher {
    public func subscribe<S: Subscriber>(_ subscriber: S) where S.Input == Output, S.Failure == Failure {}
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { fatalError() }
}

extension Publisher where Failure == Never {
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable { fatalError() }
}

public struct AnyPublisher<Output, Failure: Error>: Publisher {
    public init<P: Publisher>(_ publisher: P) where P.Output == Output, P.Failure == Failure {}
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {}
}
