import PrefsPropertyLists

/// A handle for one property of one instance: the value of `$property`.
///
/// ```swift
/// if let error = prefs.$fontSize.set(14) { print(error) }
/// print(prefs.$fontSize.isStored)  // true
/// prefs.$fontSize.reset()
/// ```
///
/// A handle keeps its instance alive. Two handles are equal if they are for one property of one instance; ``id`` is the
/// handle itself. Mirrors `Binding` of SwiftUI. Performance, errors and threads are as for the property. A handle is
/// `Sendable` if its values are.
public struct PrefHandle<Value> {
    private let instance: Identity<PersistentPrefs>
    private let declaration: Identity<PrefProperty<Value>>
    var prefs: PersistentPrefs { instance.object }
    var property: PrefProperty<Value> { declaration.object }

    package init(prefs: PersistentPrefs, property: PrefProperty<Value>) {
        (instance, declaration) = (Identity(prefs), Identity(property))
    }

    /// The key of the property.
    public var key: String { property.binding(in: prefs.state).key }

    /// The value that is read if nothing is stored.
    public var defaultValue: Value { property.givenDefault }

    /// The current value, as the property returns it.
    public var value: Value { prefs.value(of: property, property.bound(in: prefs.state)) }

    /// The value, for changes in place.
    package var inPlace: Value {
        get { value }
        nonmutating _modify {
            var change = prefs.changeInPlace(of: property)
            yield &change.value
            prefs.commit(change, of: property)
        }
    }

    /// Where the current value comes from: a layer of a layered store, the store or the default.
    ///
    /// A stored value that does not fit the property is not the current value: the layer below, or the default, is read
    /// instead.
    public var source: PrefSource { prefs.source(ofKey: key) }

    /// Whether a value is stored. True also if it equals the default or is of another type, and if a layer above hides
    /// it.
    public var isStored: Bool { prefs.isStored(property) }

    /// Whether the current value is the default: nothing is stored, or the stored value equals it or cannot be read.
    public var isDefault: Bool { prefs.isDefault(property) }

    /// Changes the value in one transaction, with the guarantees of `update`: `prefs.$hits.modify { $0 += 1 }`.
    ///
    /// A value that cannot be read is not changed, and its error is returned. Costs an `update`.
    /// - Parameters:
    ///   - timeout: how long to wait for other threads and processes, as for `update`.
    ///   - change: gets the current value. Runs once, on the calling thread.
    /// - Returns: the error of this call, or nil. If it is a warning (``PrefsError/isWarning``), the call has succeeded.
    /// - Throws: what the closure throws; then nothing has changed.
    @discardableResult
    public func modify(timeout: Duration? = nil, _ change: (inout Value) throws -> Void) rethrows -> PrefsError? {
        try prefs.join(timeout: timeout) {
            var new = prefs.changeInPlace(of: property)
            if new.failure == nil { try change(&new.value) }
            prefs.commit(new, of: property)
        }
    }

    /// Makes the accesses in the body one transaction, unless the value cannot be read, as `modify` does.
    package func join(_ body: () throws -> Void) rethrows -> PrefsError? {
        try prefs.join {
            let current = prefs.changeInPlace(of: property)
            if current.failure == nil { try body() } else { prefs.commit(current, of: property) }
        }
    }

    /// Removes the stored value, also under former keys, so that the default is read.
    ///
    /// - Returns: the error of this write, or nil. If it is a warning (``PrefsError/isWarning``), the write has succeeded.
    @discardableResult
    public func reset() -> PrefsError? { prefs.removeValue(of: property) }

    /// Stores a value, as an assignment to the property does.
    ///
    /// - Returns: the error of this write, or nil. If it is a warning (``PrefsError/isWarning``), the write has succeeded.
    @discardableResult
    public func set(_ value: Value) -> PrefsError? {
        let binding = property.binding(in: prefs.state)
        return prefs.write { try $0.commit(property.write(value, binding), &$1) }
    }
}

extension PrefHandle: Sendable where Value: Sendable {}

/// An object that is equal to itself only, whatever its class says.
private struct Identity<Object: AnyObject>: Hashable {
    let object: Object

    init(_ object: Object) { self.object = object }

    static func == (left: Identity, right: Identity) -> Bool { left.object === right.object }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}

extension Identity: Sendable where Object: Sendable {}

extension PrefHandle: Hashable, Identifiable {
    /// The handle itself.
    public var id: PrefHandle { self }
}

extension PrefHandle where Value: Sendable {
    /// Changes the value in one transaction without blocking the task's thread, as the asynchronous `update` does:
    /// `await prefs.$hits.modify { $0 += 1 }`. Parameters and results are as for the synchronous form.
    @discardableResult
    public func modify(
        timeout: Duration? = nil, _ change: @Sendable (inout Value) throws -> Void
    ) async rethrows -> PrefsError? {
        try await prefs.withoutBlocking(timeout) { try modify(change) }
    }

    /// Removes the stored value without blocking the task's thread. The result is as for the synchronous form.
    @discardableResult
    public func reset() async -> PrefsError? { await prefs.withoutBlocking { reset() } }

    /// Stores a value without blocking the task's thread: `await prefs.$port.set(9090)`. The result is as for the
    /// synchronous form.
    @discardableResult
    public func set(_ value: Value) async -> PrefsError? { await prefs.withoutBlocking { set(value) } }
}

extension PrefHandle: HidesValues {
    package var shownParts: KeyValuePairs<String, Any> { ["key": key] }
}
