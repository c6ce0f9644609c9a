package import Foundation
package import PrefsPropertyLists

/// The questions of other targets for any class.
extension PersistentPrefs {
    /// The allowed keys, declared and listed.
    package var allowedKeyList: [String] { allowed.list }

    /// Converts the stored values of the allowed keys, after migration and without layers. nil if they cannot be read or
    /// converted; ``lastError`` says why.
    package func readingStored<R>(_ convert: ([String: StoredValue]) throws -> R) -> R? {
        state.bridge.access(nil, of: self)
        return read { view, _ in try convert(allowed.visible(in: view.storedValues())) }
    }

    /// Whether the values of a key are hidden: by its declaration, or because a layer of secrets has the key.
    package func isSensitive(_ key: String) -> Bool {
        declarations.isSensitive(key)
            || state.roots.layers?.current().isSensitive(key, of: self.key, in: declarations) == true
    }

    /// The class of an instance, for messages.
    package var className: String { "\(type(of: self))" }

    /// The file that holds the root; nil if the store does not use a file.
    package var fileURL: URL? { state.roots.fileURL }

    /// What to store for a changed value: of a merged property, the fields that are stored or that have changed, if they
    /// fit alone; otherwise the value. nil if no field is left.
    package func storedChange(of key: String, from before: StoredValue?, to after: StoredValue) -> StoredValue? {
        guard let property = declarations[key]?.property, let sections = property.sectionFields else { return after }
        var outcome = AccessOutcome()
        let view = try? Root(self.key, of: state).view(of: key, &outcome)
        let stored = try? view?.storedPart(ofKey: key, property, sections)
        let part = sections.part(stored, changedFrom: before, to: after)
        if part.dictionary?.isEmpty == true { return nil }
        return property.error(of: part, forKey: key) == nil ? part : after
    }

    /// The value of a key in the store or in a layer. Does not change ``lastError``.
    package func currentValue(forKey key: String) throws(PrefsError) -> StoredValue? {
        do {
            var outcome = AccessOutcome()
            return try Root(self.key, of: state).view(of: key, &outcome).value(forKey: key, &outcome)
        } catch {
            throw PrefsError(error)
        }
    }
}
