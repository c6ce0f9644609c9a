import PrefsPropertyLists

/// A root in the shape that the class expects.
struct RootShape {
    /// The migrated values under the current keys, in their stored form.
    let migrated: [String: StoredValue]
    /// The migrated values under the current keys, in the form in which the properties store them.
    let current: [String: StoredValue]
}

/// A stored state of a root, with the shape that was made of it.
final class ShapedState: Sendable {
    private let stored: [String: StoredValue]
    let form: ValueForm
    let shape: RootShape

    init(_ stored: [String: StoredValue], _ form: ValueForm, _ shape: RootShape) {
        (self.stored, self.form, self.shape) = (stored, form, shape)
    }

    func isOf(_ stored: [String: StoredValue], as form: ValueForm) -> Bool {
        self.stored.isIdentical(to: stored) && self.form == form
    }
}

/// The newest state of each root of a class, with its shape, which new instances take over.
final class RootShapes: Sendable {
    /// A program may use many roots, each for a short time. Their values stay in memory until the program ends, or until
    /// another root is used in their place.
    private static let capacity = 16

    private let newest = Locked([String: ShapedState]())

    /// A stored state with its shape, which is made once for all instances.
    ///
    /// - Parameters:
    ///   - last: the state that the instance read last.
    ///   - shape: makes the shape, given the shape of an earlier state.
    func state(
        of stored: [String: StoredValue], root: String, as form: ValueForm, after last: ShapedState?,
        _ shape: (_ last: RootShape?) throws(PrefsError) -> RootShape
    ) throws(PrefsError) -> ShapedState {
        let known = newest.withLock { $0[root] }
        if let known, known.isOf(stored, as: form) { return known }
        // A shape of another form has other values for the same texts.
        let former = [last, known].lazy.compactMap { $0 }.first { $0.form == form }
        let new = ShapedState(stored, form, try shape(former?.shape))
        let replaced = newest.withLock { newest in
            defer {
                if newest.count >= Self.capacity, newest[root] == nil { newest = [:] }
                newest[root] = new
            }
            return newest
        }
        // Released outside the lock.
        withExtendedLifetime(replaced) {}
        return new
    }
}
