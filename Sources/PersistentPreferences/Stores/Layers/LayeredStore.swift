import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// A store with layers of values above and below a base. Writes go to the base.
///
/// ```swift
/// final class EditorPrefs: Prefs, @unchecked Sendable {
///     @Pref var fontSize = 12
///
///     static let layered = LayeredStore(
///         UserDefaultsStore.standard, above: [.arguments(), .environment(prefix: "EDITOR_")], below: [.system("editor")])
///     override class var store: any PrefsStore { layered }
/// }
/// ```
///
/// ## Behavior
/// The first layer that has a value for a key wins: those above in their order, then the base, then those below, then the default in the
/// code. A write to a key that a layer above sets is rejected with ``PrefsError/coveredByLayer(_:)``, unless it equals that value. A key
/// that is removed from the base shows the layer below again.
///
/// `values` and `update` of an instance work on the merged state. They store what differs from it, so a value that equals that of a layer
/// below is stored only by an assignment to its key. An update reads the layers once, at its beginning, except for managed values.
///
/// A stored value that does not fit its property is reported, and stays in place. The layer below is read instead.
///
/// The store itself knows no types: ``read(root:)``, ``update(root:_:)`` and ``observe(root:_:)`` leave out the layers of text, and those
/// of managed values. A store of another module that wraps this one therefore has neither of them; pass such a store as the base instead.
///
/// ## Performance
/// A read costs that of the base, and one `fstat` for each file of a layer. A missing file costs a `stat`.
///
/// ## Errors
/// A layer that cannot be read, and an entry that does not fit its property, are reported with ``PrefsError/invalidLayer(_:)`` and ignored.
/// Nothing is changed, and the other layers go on working. Errors of the base are its own. If it cannot be read, instances report it and
/// read the layers.
///
/// ## Threads
/// Any thread.
public final class LayeredStore: PrefsStore {
    let ownRoots: Roots
    private let base: Roots

    /// Creates a store over a base. Reads the environment and the arguments, and writes nothing.
    ///
    /// - Parameters:
    ///   - base: where writes go. If it is a layered store, the new layers are around its own. A path of a layer that leads to the file of
    ///     the base is not read, and is reported with ``PrefsError/invalidLayer(_:)``. The paths are compared once, by this initializer,
    ///     and only for the stores of this package.
    ///   - above: layers that win over the base; the first wins over the others.
    ///   - below: defaults; the first wins over the others.
    public init(_ base: any PrefsStore, above: [PrefsLayer] = [], below: [PrefsLayer] = []) {
        let inner = base as? LayeredStore
        let stack = inner?.ownRoots.layers
        self.base = inner?.base ?? base.roots
        ownRoots = Roots(
            self.base,
            in: LayerStack(
                above: above + (stack?.above ?? []), below: (stack?.below ?? []) + below, layout: self.base.layout,
                baseFile: self.base.fileURL?.path(percentEncoded: false)))
    }

    /// Returns the root of the base merged with the layers that have values; nil if all are missing. A layer that cannot be read is left
    /// out; only instances report it.
    public func read(root: String) throws -> [String: Any]? {
        try ownRoots.read(root: root)
    }

    /// Changes the root of the base in one transaction. The body gets the merged state. See ``PrefsStore/update(root:_:)``.
    ///
    /// - Throws: ``PrefsError/coveredByLayer(_:)`` if the body changes a key that a layer above sets.
    public func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try ownRoots.update(root: root, body)
    }

    /// Calls the closure after each commit that changes the merged root, and after each change of a layer's file that does. See
    /// ``PrefsStore/observe(root:_:)``.
    public func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try ownRoots.observe(root: root, action)
    }
}

extension [String: StoredValue]? {
    /// Lets a user change the objects of a root between its layers; what changes is vetted, and stored.
    ///
    /// - Throws: `PrefsError.coveredByLayer`.
    mutating func change(
        in layers: LayersSnapshot, root: String, _ body: (inout [String: Any]?) throws -> Void
    ) throws {
        let before = layers.merged(self, root: root)
        let shown = before?.objects
        var after = shown
        try body(&after)
        guard let after else {
            if before != nil { self = nil }
            return
        }
        let change = try RootChange(from: before ?? [:], shownAs: shown ?? [:], to: after)
        try layers.checkUncovered(Array(change.assigned.keys) + change.removed, root: root)
        if before == nil { self = [:] }
        try change.apply(to: &self)
    }
}
