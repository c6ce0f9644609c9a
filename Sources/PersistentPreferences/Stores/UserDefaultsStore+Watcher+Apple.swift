#if canImport(Darwin)
    import Foundation

    /// Gives a sign when an entry of a domain may have changed, in whatever process: by the key-value observing of UserDefaults.
    ///
    /// What has a dot in it, or begins with an @, is a path there and no key. So each commit of this package that changes such
    /// an entry gives another one, which is a key, a new value; watched is that, and the notification that UserDefaults posts
    /// of changes in its own process. What other code does to such an entry in another process is heard of with the next such
    /// sign.
    ///
    /// Lives as long as its domain, for ever: an observer must not go away while it is told. Type-checked only: never run.
    final class DefaultsWatcher: NSObject, @unchecked Sendable {
        /// Holds nothing but a value that was never there before.
        private static let markKey = "PersistentPreferences dotted roots"

        private let defaults: UserDefaults
        private let lock = Lock()
        // Under the lock: by the numbers that watches have as their contexts.
        private var watches: [Int: (key: String, changed: @Sendable () -> Void)] = [:]
        private var lastNumber = 0

        init(_ defaults: UserDefaults) {
            self.defaults = defaults
            super.init()
        }

        /// What is watched.
        var keys: Set<String> { lock.withLock { Set(watches.values.map(\.key)) } }

        func watch(_ key: String, _ changed: @escaping @Sendable () -> Void) -> AnyObject {
            let number = lock.withLock {
                lastNumber += 1
                watches[lastNumber] = (key, changed)
                return lastNumber
            }
            return Watch(self, key, number, changed)
        }

        /// Called inside of each commit, with what it has changed.
        func didCommit(_ changed: [String]) {
            if changed.contains(where: Self.isNoKeyPath) { defaults.set(UUID().uuidString, forKey: Self.markKey) }
        }

        override func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {
            lock.withLock { watches[Int(bitPattern: context)]?.changed }?()
        }

        private static func isNoKeyPath(_ key: String) -> Bool { key.contains(".") || key.hasPrefix("@") }

        /// Ends with the object.
        private final class Watch {
            private let watcher: DefaultsWatcher
            private let keyPath: String
            private let number: Int
            private let notification: (any NSObjectProtocol)?

            private var context: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

            init(_ watcher: DefaultsWatcher, _ key: String, _ number: Int, _ changed: @escaping @Sendable () -> Void) {
                let isNoKeyPath = DefaultsWatcher.isNoKeyPath(key)
                self.watcher = watcher
                self.number = number
                keyPath = isNoKeyPath ? DefaultsWatcher.markKey : key
                notification =
                    isNoKeyPath
                    ? NotificationCenter.default.addObserver(
                        forName: UserDefaults.didChangeNotification, object: nil, queue: nil
                    ) { _ in changed() } : nil
                watcher.defaults.addObserver(watcher, forKeyPath: keyPath, options: [], context: context)
            }

            deinit {
                watcher.defaults.removeObserver(watcher, forKeyPath: keyPath, context: context)
                if let notification { NotificationCenter.default.removeObserver(notification) }
                _ = watcher.lock.withLock { watcher.watches.removeValue(forKey: number) }
            }
        }
    }
#endif
