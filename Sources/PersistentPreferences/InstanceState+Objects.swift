import PrefsFileEngine
import PrefsPropertyLists

/// The objects of values that reads have returned. They are made once.
extension InstanceState {
    /// The part of a root that a user sees: the allowed values, and their objects.
    struct Shown {
        fileprivate let root: [String: StoredValue]
        fileprivate let allowed: [String]
        let values: [String: StoredValue]
        let objects: [String: Any]

        static var nothing: Shown { Shown(root: [:], allowed: [], values: [:], objects: [:]) }
    }

    /// The object of a value of a key; nil if there is no value.
    struct KeptObject {
        let value: StoredValue?
        let object: Any?
        /// The revision of the state, if a read of it reports nothing.
        let revision: Revision?
        let root: String
    }

    /// The visible values of a root and their objects, made once for each state. A missing root is empty.
    func shown(_ root: [String: StoredValue]?, _ allowed: AllowedKeys) -> Shown {
        guard let root else { return .nothing }
        if let shown = lock.withLock({ state.shown }), shown.root.isIdentical(to: root),
            AllowedKeysCache.areSame(shown.allowed, allowed.list)
        {
            return shown
        }
        let values = allowed.visible(in: root)
        var objects: [String: Any] = [:]
        objects.reserveCapacity(values.count)
        for (key, value) in values { objects[key] = object(of: value, forKey: key) }
        let new = Shown(root: root, allowed: allowed.list, values: values, objects: objects)
        lock.withLock { (state.shown, state.stateShown) = (new, nil) }
        return new
    }

    /// Keeps the visible part of a state.
    func keep(_ shown: Shown, at revision: Revision?, of root: String) {
        guard let revision else { return }
        lock.withLock {
            if state.shown?.root.isIdentical(to: shown.root) == true { state.stateShown = (revision, root) }
        }
    }

    /// The objects that were shown last, and the revision of their state.
    func keptShown(of root: String, _ allowed: AllowedKeys) -> (objects: [String: Any], revision: Revision)? {
        lock.withLock {
            guard let known = state.stateShown, known.root == root, let shown = state.shown,
                AllowedKeysCache.areSame(shown.allowed, allowed.list)
            else { return nil }
            return (shown.objects, known.revision)
        }
    }

    /// The object that was last read for a key, if a read of that state reports nothing.
    func keptObject(forKey key: String, of root: String) -> KeptObject? {
        lock.withLock {
            guard let known = state.objects[key], known.revision != nil, known.root == root else { return nil }
            return known
        }
    }

    /// The object of a value that was found. It is kept for the next read.
    func object(of found: FoundValue, forKey key: String) -> Any? {
        let object = found.value.flatMap { $0.isNull ? nil : self.object(of: $0, forKey: key) }
        if found.revision != nil {
            keep(
                KeptObject(value: found.value, object: object, revision: found.revision, root: found.root), forKey: key)
        }
        return object
    }

    /// The object of a value. The object of a container is kept, because it is large.
    private func object(of value: StoredValue, forKey key: String) -> Any {
        guard value.isContainer else { return value.object }
        if let known = lock.withLock({ state.objects[key] }), let object = known.object,
            known.value?.isIdentical(to: value) == true
        {
            return object
        }
        let object = value.object
        keep(KeptObject(value: value, object: object, revision: nil, root: ""), forKey: key)
        return object
    }

    private func keep(_ object: KeptObject, forKey key: String) {
        lock.withLock {
            // Bounded, because a class may allow any number of keys.
            if state.objects.count >= 64, state.objects[key] == nil { state.objects = [:] }
            state.objects[key] = object
        }
    }
}
