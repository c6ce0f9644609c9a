import PersistentPreferences

extension StoreCheck {
    /// The checks of remote stores.
    static let remoteStores = [
        StoreCheck(
            "currentIsNewest", "current returns the newest state, in an update that of the update; missing is nil."
        ) { place in
            let store = try place.remoteStore
            try place.expect(store.current(root: "A"), equals: nil, "from current, before the first write")
            try place.other.update(root: "A") { $0 = ["a": 1] }
            try place.expect(store.current(root: "A"), equals: ["a": 1], "from current, after an update")
            try store.update(root: "A") { _ in
                try place.other.update(root: "A") { $0 = ["a": 2] }
                try place.expect(store.current(root: "A"), equals: ["a": 2], "from current, in an update")
            }
        },
        StoreCheck("lastKnownIsWhatWasRead", "lastKnown returns the newest state that was read or written.") { place in
            let store = try place.remoteStore
            try place.expect(store.lastKnown(root: "A"), equals: nil, "from lastKnown, before the first write")
            try store.update(root: "A") { $0 = ["a": 1] }
            try place.expect(store.lastKnown(root: "A"), equals: ["a": 1], "from lastKnown, after an update")
            try place.other.update(root: "A") { $0 = ["a": 2] }
            _ = try store.read(root: "A")
            try place.expect(store.lastKnown(root: "A"), equals: ["a": 2], "from lastKnown, after a read")
        },
    ]
}

extension CheckedPlace {
    fileprivate var remoteStore: any RemotePrefsBackend {
        get throws {
            guard let remote = store as? any RemotePrefsBackend else {
                throw Finding(description: "Expected a RemotePrefsBackend, found \(type(of: store)).")
            }
            return remote
        }
    }
}
