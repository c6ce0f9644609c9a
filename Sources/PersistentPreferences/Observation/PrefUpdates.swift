import PrefsPropertyLists

/// An asynchronous sequence of what happens from now on: the values of one property (``PrefHandle/updates``), or the
/// changes of an instance (``PersistentPrefs/changes(of:)``), which are of the type `PrefUpdates<PrefsChange>`.
///
/// ```swift
/// for await size in prefs.$fontSize.updates { print(size) }
/// for await change in prefs.changes(of: "theme") { print(change.newValues) }
/// ```
///
/// ## Behavior
/// The sequence observes from the moment it is created. The first iterator gets what has happened since then; each
/// further iterator starts anew. The sequence ends when its task is cancelled.
///
/// Of a property, the first element is the value at the time when the sequence was created. Each new value follows. If
/// values are `Equatable`, equal values are not repeated. Of an instance, the first element is the first change. Up to
/// 1,024 changes wait, then the newest are merged; see ``PrefsChange``. Mirrors `values` of Combine's publishers, and
/// `AsyncStream`.
///
/// ## Threads
/// `Sendable` if the values are.
public struct PrefUpdates<Value>: AsyncSequence {
    private let source: StreamSource<Value>

    package init(_ make: @escaping @Sendable () -> ChangeStream<Value>) {
        source = StreamSource(make)
    }

    /// Creates an iterator over the values.
    public func makeAsyncIterator() -> Iterator {
        Iterator(handle: source.take())
    }

    /// Waits for the next value. Ends when its task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        let handle: StreamHandle<Value>

        /// The next value; nil after the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            await handle.stream.next(isolation: actor)
        }

        /// The next value; nil after the end. `for await` calls it if the deployment target is below macOS 15 or iOS
        /// 18.
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
