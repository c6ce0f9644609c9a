import PersistentPreferences
package import PrefsPropertyLists

extension EtcdStore: RemoteStore {
    package func values(of root: String) throws -> [String: StoredValue]? {
        try NameVetting.checkRoot(root)
        let namespace = try namespace.get()
        return try reads == .current ? namespace.current(root) : namespace.followed(root)
    }

    package func current(root: String) throws -> [String: StoredValue]? {
        try NameVetting.checkRoot(root)
        return try namespace.get().current(root)
    }

    package func lastKnown(root: String) -> [String: StoredValue]? {
        (try? namespace.get())?.watch.lastKnown(root)
    }
}
