import PersistentPreferences

extension EtcdStore: RemoteStore {
    package func current(root: String) throws -> [String: Any]? {
        try NameVetting.checkRoot(root)
        return try namespace.get().current(root)
    }

    package func lastKnown(root: String) -> [String: Any]? {
        (try? namespace.get())?.watch.lastKnown(root)
    }
}
