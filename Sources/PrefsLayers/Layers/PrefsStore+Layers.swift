import Foundation
public import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

extension PrefsStore {
    /// Creates a store with layers of values above and below a base. Writes go to the base. See <doc:Layers>.
    ///
    /// ```swift
    /// import PrefsLayers
    ///
    /// override class var store: PrefsStore {
    ///     .layered(.userDefaults(), above: [.arguments(), .environment(prefix: "EDITOR_")], below: [.system("editor")])
    /// }
    /// ```
    ///
    /// ## Behavior
    /// The first layer that has a value for a key wins: those above in their order, the base, those below in their order,
    /// the default in the code. A write to a key that a layer above sets is rejected, unless it equals that value.
    /// `values` and `update` of an instance store only what differs from the merged state.
    ///
    /// The store itself knows no types: its own methods leave out text, managed values and layers that cannot be read.
    /// Its update gets the merged state, and is rejected if it changes a key that a layer above sets. If a store of your
    /// own should have layers, make it the base.
    ///
    /// ## Performance
    /// A read costs a read of the base, and one `fstat` for each file of a layer. A missing file costs a `stat`, and so
    /// does each file of a folder of secrets. This call reads the environment and the arguments, and writes nothing.
    ///
    /// ## Errors
    /// A rejected write fails with ``PrefsError/coveredByLayer(_:)``. A layer that cannot be read, and an entry that does
    /// not fit its property, are reported with ``PrefsError/ignoredInLayer(_:)`` and ignored. If the base cannot be read,
    /// instances report its error and read the layers.
    ///
    /// ## Threads
    /// Any thread.
    ///
    /// - Parameters:
    ///   - base: where writes go; the store has its ``url``. If the base is layered, the new layers are around its layers.
    ///     A path of a layer that leads to the file of the base is not read, and is reported with
    ///     ``PrefsError/ignoredInLayer(_:)``. The paths are compared once, by this call, and only for the stores of this
    ///     package.
    ///   - above: layers that win over the base; the first wins over the others.
    ///   - below: defaults; the first wins over the others.
    public static func layered(
        _ base: PrefsStore, above: [PrefsLayer] = [], below: [PrefsLayer] = []
    ) -> PrefsStore {
        let stack = base.roots.layers as? LayerStack
        let roots = base.roots.base
        return PrefsStore(
            Roots(
                roots,
                in: LayerStack(
                    above: above + (stack?.above ?? []), below: (stack?.below ?? []) + below, layout: roots.layout,
                    baseFile: roots.fileURL?.path(percentEncoded: false))))
    }
}
