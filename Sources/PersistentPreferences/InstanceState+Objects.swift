import PrefsFileEngine
import PrefsPropertyLists

extension InstanceState {
    /// The part of a root that a user sees: the allowed values, and their objects.
    struct Shown {
        fileprivate let root: [String: StoredValue]
        fileprivate let allowed: [String]
        let values: [String: StoredValue]
        let objects: [String: Any]

        static var nothing: Shown { Shown(root: [:], allowed: [], values: [:], objects: [:]) }
    }

    /// The visible values of a root and their objects, made once for each state: an update of many assignments needs them
    /// for each. A missing root is empty.
    func shown(_ root: [String: StoredValue]?, _ allowed: AllowedKeys) -> Shown {
        guard let root else { return .nothing }
        if let shown = lock.withLock({ state.shown }), shown.root.isIdentical(to: root),
            AllowedKeysCache.areSame(shown.allowed, allowed.list)
        {
            return shown
        }
        let values = allowed.visible(in: root)
        let objects = values.mapValues(\.object)
        let new = Shown(root: root, allowed: allowed.list, values: values, objects: objects)
        lock.withLock { state.shown = new }
        return new
    }
}
