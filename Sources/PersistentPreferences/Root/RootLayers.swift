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
    /// What the layers have around a key of a class.
    func around(_ key: String, of root: String, in declarations: ClassDeclarations) -> LayersOfKey
    /// The value of a key between the layers, and whether one of them does not fit.
    func value(
        forKey key: String, over base: any StoredRoot, _ outcome: inout AccessOutcome
    ) -> (value: StoredValue?, hasFaults: Bool)
    /// The value of a key that a layer above has, with the parts that are stored.
    func value(ofCovered key: String, over base: any StoredRoot) throws(PrefsError) -> StoredValue?
    /// The values of some keys, with all that is stored; nil if there are no values.
    ///
    /// - Parameter stored: the stored values; nil if they are missing, or cannot be read.
    func values(
        ofKeys keys: [String], over base: any StoredRoot, _ stored: [String: StoredValue]?
    ) throws(PrefsError) -> (values: [String: StoredValue]?, faults: [PrefsProblem])
    /// Where a field of a merged value comes from.
    ///
    /// - Parameter part: the fields that are stored.
    func source(ofField field: [String], ofKey key: String, over base: any StoredRoot, _ part: StoredValue?)
        -> PrefSource
    /// Whether the values of a key are hidden, because a layer of secrets has the key, or had it before.
    func isSensitive(_ key: String, of root: String, in declarations: ClassDeclarations) -> Bool
    /// What a person should know beside the faults: entries that are ignored, names and keys that no class has, and files
    /// that a newer version of the class has written.
    ///
    /// - Parameters:
    ///   - keys: all keys of an instance.
    ///   - flaw: says why a key of a file is not a key of the class; nil if it is one.
    func notes(
        forKeys keys: [String], of root: String, in declarations: ClassDeclarations,
        _ flaw: (_ key: String, ValueForm) -> String?
    ) -> [PrefsProblem]
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

/// What is stored under a root key, as layers need it.
package protocol StoredRoot {
    var rootKey: String { get }
    var declarations: ClassDeclarations { get }
    /// The stored value of a key; nil if there is none.
    func storedValue(forKey key: String) throws(PrefsError) -> StoredValue?
    /// The stored value of a key as it was written; nil if there is none.
    func raw(_ key: String) throws(PrefsError) -> StoredValue?
}

/// What layers have around a key.
package struct LayersOfKey: Sendable {
    /// The highest layer above with a value or a part of one, which rejects a write, and the place there; nil if there is none.
    let cover: (layer: String, place: String)?
    /// Whether a layer above has a whole value.
    let hasWholeAbove: Bool
    /// The highest layer below with a value or a part of one; nil if there is none.
    let below: String?
    /// Whether a layer has an entry that does not fit.
    let hasFaults: Bool

    package init(cover: (layer: String, place: String)?, hasWholeAbove: Bool, below: String?, hasFaults: Bool) {
        (self.cover, self.hasWholeAbove, self.below, self.hasFaults) = (cover, hasWholeAbove, below, hasFaults)
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
