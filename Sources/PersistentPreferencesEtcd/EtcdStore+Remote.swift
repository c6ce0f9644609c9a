import PersistentPreferences

extension EtcdStore: RemoteStore {
    package func current(root: String) throws -> [String: Any]? {
        try NameVetting.checkRoot(root)
        return try place.get().current(root)
    }

    package func lastKnown(root: String) -> [String: Any]? {
        (try? place.get())?.watch.lastKnown(root)
    }
}
