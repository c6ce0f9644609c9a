import PrefsPropertyLists

/// The changes of an instance's preferences as an asynchronous sequence, from
/// ``PersistentPrefs/changes(of:)-(String...)``.
///
/// Changes are collected from the moment it is made. The first iterator gets those; each further one begins anew. Up to 1,024
/// changes wait, then the newest become one (``PrefsChange``). Mirrors `AsyncStream`.
public struct PrefsChanges: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = PrefsChange
    /// It does not throw.
    public typealias Failure = Never

    private let source: StreamSource<PrefsChange>

    init(_ make: @escaping @Sendable () -> ChangeStream<PrefsChange>) {
        source = StreamSource(make)
    }

    /// A turn through the changes.
    public func makeAsyncIterator() -> Iterator {
        Iterator(handle: source.take())
    }

    /// Waits for the next change. Ends when its task is cancelled, for good.
    public struct Iterator: AsyncIteratorProtocol {
        let handle: StreamHandle<PrefsChange>

        /// The next change; nil after the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> PrefsChange? {
            await handle.stream.next(isolation: actor)
        }

        /// The next change; nil after the end. `for await` calls this one if the deployment target is below macOS 15 or iOS 18.
        public mutating func next() async -> PrefsChange? {
            await handle.stream.next(isolation: nil)
        }
    }
}

/// The values of one declared property as an asynchronous sequence, from ``PrefHandle/updates``: first the value at the moment it
/// is made, then each new one.
///
/// If values can be compared, an equal value is not a change. Otherwise as ``PrefsChanges``. Mirrors `values` of
/// Combine's publishers.
public struct PrefUpdates<Value>: AsyncSequence {
    /// The element of the sequence.
    public typealias Element = Value
    /// It does not throw.
    public typealias Failure = Never

    private let source: StreamSource<Value>

    init(_ make: @escaping @Sendable () -> ChangeStream<Value>) {
        source = StreamSource(make)
    }

    /// A turn through the values.
    public func makeAsyncIterator() -> Iterator {
        Iterator(handle: source.take())
    }

    /// Waits for the next value. Ends when its task is cancelled, for good.
    public struct Iterator: AsyncIteratorProtocol {
        let handle: StreamHandle<Value>

        /// The next value; nil after the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            await handle.stream.next(isolation: actor)
        }

        /// The next value; nil after the end. `for await` calls this one if the deployment target is below macOS 15 or iOS 18.
        public mutating func next() async -> Value? {
            await handle.stream.next(isolation: nil)
        }
    }
}

extension PrefUpdates: Sendable where Value: Sendable {}

/// Ends a stream when its last iterator is released.
final class StreamHandle<Element>: Sendable {
    let stream: ChangeStream<Element>

    init(_ stream: ChangeStream<Element>) {
        self.stream = stream
    }

    deinit {
        stream.end()
    }
}

/// The stream that a sequence has begun, for its first iterator, and new streams for others.
final class StreamSource<Element>: Sendable {
    private let make: @Sendable () -> ChangeStream<Element>
    private let begun: Locked<StreamHandle<Element>?>

    init(_ make: @escaping @Sendable () -> ChangeStream<Element>) {
        self.make = make
        begun = Locked(StreamHandle(make()))
    }

    func take() -> StreamHandle<Element> {
        let begun = begun.withLock { begun in
            defer { begun = nil }
            return begun
        }
        return begun ?? StreamHandle(make())
    }
}
