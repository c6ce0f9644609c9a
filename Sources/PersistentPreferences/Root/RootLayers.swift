package import PrefsFileEngine
package import PrefsPropertyLists

/// A domain that layers are around.
package protocol LayeredDomain: AnyObject, Sendable {
    /// Subscribes to a part of the domain, without layers.
    func subscribe(to part: DomainPart, _ observer: EntryObserver) throws -> EntrySubscription
}

/// The layers around the roots of a domain: values that win over the stored ones, and values that are read if nothing
/// is stored. A store with layers implements it.
package protocol RootLayers: AnyObject, Sendable {
    /// The current state of all layers. Two different objects are different states.
    func current() -> any RootLayersSnapshot
    /// Drops the caches.
    func forget()
    /// Subscribes to a part of a domain, and to the layers around the root in it.
    func subscribe(
        to part: DomainPart, root: String, of base: any LayeredDomain, _ observer: EntryObserver
    ) throws -> EntrySubscription
}

/// The layers around the roots of a domain at one moment.
package protocol RootLayersSnapshot: AnyObject, Sendable {
    /// nil if entries may change while this object is the current one.
    var revision: Revision? { get }
    /// The faults of layers as a whole.
    func faults(of root: String) -> [PrefsProblem]
    /// The values above and below a key of a class.
    func key(_ key: String, of root: String, in declarations: ClassDeclarations) -> LayeredKey
    /// Whether the values of a key are hidden, because a layer of secrets has the key, or had it before.
    func isSensitive(_ key: String, of root: String, in declarations: ClassDeclarations) -> Bool
    /// What a person should know beside the faults: entries that are ignored, and names that no key has.
    ///
    /// - Parameter keys: all keys of an instance.
    func notes(forKeys keys: [String], in declarations: ClassDeclarations) -> [PrefsProblem]
    /// The entries of a root in each file of a layer, as a class sees them.
    func fileEntries(of root: String, in declarations: ClassDeclarations) -> [LayerFileEntries]
    /// How people set a key: `; set --size or APP_SIZE`. Empty without layers of text.
    func howToSet(_ key: String, in declarations: ClassDeclarations) -> String
    /// A root between the layers that need no type of a property; nil if neither has values.
    func merged(_ stored: [String: StoredValue]?, root: String) -> [String: StoredValue]?
    /// Lets a user change the objects of a root between its layers. Changed values are vetted and stored.
    ///
    /// - Throws: `PrefsError.coveredByLayer`.
    func change(
        _ stored: inout [String: StoredValue]?, root: String, _ body: (inout [String: Any]?) throws -> Void
    ) throws
}

/// The entries of a root in the file of a layer, as a class sees them.
package struct LayerFileEntries: Sendable {
    let layer: String
    let path: String
    let format: FileFormat?
    /// The keys after a migration. Empty if it has failed.
    let keys: [String]
    /// That a newer version of the class has written the root; nil if none has.
    let newerVersion: String?

    package init(layer: String, path: String, format: FileFormat?, keys: [String], newerVersion: String?) {
        (self.layer, self.path, self.format) = (layer, path, format)
        (self.keys, self.newerVersion) = (keys, newerVersion)
    }
}

/// The layers around a root, as a part of the entry that observers get.
package final class LayersOfRoot: EntryContext {
    package let layers: any RootLayersSnapshot
    package let root: String

    package init(_ layers: any RootLayersSnapshot, of root: String) {
        (self.layers, self.root) = (layers, root)
    }
}

extension EntryState {
    /// The layers around the root; nil for an entry of a store without layers.
    package var layers: LayersOfRoot? { context as? LayersOfRoot }
}

extension EntryChange {
    /// A change of a store with layers as a change of merged values, for an observer that knows no types; nil if they are
    /// equal.
    func merged(of root: String) -> EntryChange? {
        mapped { entry in
            entry.layers?.layers.merged(entry.value?.dictionary, root: root).map(StoredValue.dictionary)
        }
    }
}
