#if canImport(Combine)
    public import Combine
    public import PersistentPreferences

    extension PersistentPrefs {
        /// Publishes each commit that changes the value of one of the keys, or of any key if you name none. Waiting
        /// changes may be merged; see ``PrefsChange``.
        ///
        /// Each subscriber receives the commits after its subscription, one at a time, in order, on the threads of
        /// observers without a queue; use `receive(on:)` to be called elsewhere. Changes wait until they are demanded.
        /// If a key is not allowed, the publisher finishes at once and ``lastError`` says why. In all other cases it
        /// never finishes. The publisher keeps the instance alive, a subscription does not. Cost and threads are as for
        /// ``onChange(of:on:_:)-(String...,DispatchQueue?,_)``.
        ///
        /// ```swift
        /// prefs.publisher(of: "theme").receive(on: DispatchQueue.main).sink { apply($0.newValues) }.store(in: &cancellables)
        /// ```
        public func publisher(of keys: String...) -> AnyPublisher<PrefsChange, Never> {
            publisher(of: keys)
        }

        /// Publishes each commit that changes the value of one of the keys in a list. An empty list stands for all
        /// keys.
        package func publisher(of keys: [String]) -> AnyPublisher<PrefsChange, Never> {
            ChangePublisher { self.demandedChanges(of: keys, $0) }.eraseToAnyPublisher()
        }
    }

    extension PrefHandle {
        /// Publishes the value at the time of the subscription, then each new value.
        ///
        /// The first value is delivered on the thread that first demands it: with `sink`, before `sink` returns. All
        /// others are delivered after the commit, on the threads of observers without a queue. If values can be
        /// compared, a commit that leaves an equal value is not published. Everything else is as in
        /// ``PersistentPrefs/onChange(of:on:_:)-(String...,DispatchQueue?,_)``. The publisher keeps the instance alive,
        /// a subscription does not.
        public var publisher: AnyPublisher<Value, Never> {
            ChangePublisher { self.observed.demanded($0) }.eraseToAnyPublisher()
        }
    }

    /// Publishes what a `Mailbox` delivers.
    private struct ChangePublisher<Output>: Publisher {
        typealias Failure = Never

        /// nil if nothing can be observed.
        let subscribe: (_ receive: @escaping (Output) -> Int) -> Mailbox?

        func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
            let changes = subscribe { subscriber.receive($0).max ?? Mailbox.unlimited }
            guard let changes else {
                subscriber.receive(subscription: Subscriptions.empty)
                return subscriber.receive(completion: .finished)
            }
            subscriber.receive(subscription: ChangeSubscription(changes))
        }
    }

    private final class ChangeSubscription: Subscription {
        private let changes: Mailbox

        init(_ changes: Mailbox) {
            self.changes = changes
        }

        func request(_ demand: Subscribers.Demand) {
            changes.request(demand.max ?? Mailbox.unlimited)
        }

        func cancel() {
            changes.end()
        }
    }
#endif
