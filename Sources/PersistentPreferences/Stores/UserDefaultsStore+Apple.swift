#if canImport(Darwin)
    import Foundation

    extension UserDefaultsStore {
        /// UserDefaults itself. The daemon owns the files; what this adds is vetting, and updates that are atomic within
        /// the process.
        struct Backend: Sendable {
            let fileURL: URL? = nil
            private let domain: DefaultsDomain

            init(suiteName: String?) throws(PrefsError) {
                domain = try DefaultsDomain.shared(suiteName)
            }

            func read(root: String) throws -> RootReading {
                try NameVetting.checkRoot(root)
                return RootReading(of: root, in: domain.content(for: root))
            }

            func transact(_ root: String, _ body: (Transaction) throws -> Void) throws {
                try NameVetting.checkRoot(root)
                try PrefsError.converting { try domain.transact(durability: .process, body) }
            }

            func follow(root: String, _ listener: any EntryListener, from heard: HeardEntry?) throws -> any Following {
                try NameVetting.checkRoot(root)
                return try FeedFollower(domain, root, listener, from: heard)
            }

            func entry(forKey key: String, _ report: (PrefsError) -> Void) -> Any? {
                domain.content(for: key)?[key]
            }

            @Sendable func content() throws -> (content: [String: Any]?, failure: PrefsError?) {
                (domain.content(), nil)
            }

            @Sendable func transact(_ body: (Transaction) throws -> Void) throws {
                try domain.transact(durability: .process, body)
            }

            func setEntry(_ object: Any?, forKey key: String) throws {
                try PrefsError.converting {
                    try domain.transact(durability: .process) { $0.replace(key, with: object) }
                }
            }

            func takeWarning() -> PrefsError? { nil }

            func confirm() {}

            func forget() {}
        }
    }

    /// The transactions of one UserDefaults domain in this process.
    private final class DefaultsDomain: TransactionQueue, @unchecked Sendable {
        private static let lock = Lock()
        nonisolated(unsafe) private static var domains: [String?: DefaultsDomain] = [:]

        private let name: String
        private let defaults: UserDefaults
        private let watcher: DefaultsWatcher
        /// The domain as the transaction found it. Belongs to the thread whose turn it is.
        private var base: Content = [:]

        /// The one object of a domain.
        static func shared(_ suiteName: String?) throws(PrefsError) -> DefaultsDomain {
            try lock.withLock { () throws(PrefsError) in
                if let domain = domains[suiteName] { return domain }
                let domain = try DefaultsDomain(suiteName)
                domains[suiteName] = domain
                return domain
            }
        }

        private init(_ suiteName: String?) throws(PrefsError) {
            guard let suiteName else {
                defaults = .standard
                watcher = DefaultsWatcher(defaults)
                name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
                return
            }
            guard let defaults = UserDefaults(suiteName: suiteName) else {
                throw .invalidName(name: suiteName, reason: "is no suite name: UserDefaults refuses it")
            }
            self.defaults = defaults
            watcher = DefaultsWatcher(defaults)
            name = suiteName
        }

        /// Enough of the domain to read one root: as the thread's own transaction has it, else as it is stored.
        func content(for root: String) -> Content? {
            if let transaction = Transaction.current, transaction.owner === self { return transaction.content }
            return stored()[root].map { [root: Self.canonical($0, root)] }
        }

        /// All of it, likewise; nil where nothing is stored.
        func content() -> Content? {
            if let transaction = Transaction.current, transaction.owner === self { return transaction.content }
            let entries = stored().map { ($0.key, Self.canonical($0.value, $0.key)) }
            return entries.isEmpty ? nil : Dictionary(uniqueKeysWithValues: entries)
        }

        /// The entries that are watched, which are those that anybody asks for.
        override func committed() -> Content? {
            if let transaction = Transaction.current, transaction.owner === self { return base }
            let keys = watcher.keys
            let entries = stored().filter { keys.contains($0.key) }
            return Dictionary(uniqueKeysWithValues: entries.map { ($0.key, Self.canonical($0.value, $0.key)) })
        }

        override func watch(_ key: String, _ changed: @escaping @Sendable () -> Void) -> AnyObject? {
            watcher.watch(key, changed)
        }

        override func begin() -> Content? {
            base = Dictionary(uniqueKeysWithValues: stored().map { ($0.key, Self.canonical($0.value, $0.key)) })
            return base
        }

        override func commit(_ content: Content, durability: Durability) {
            var changed: [String] = []
            for (root, value) in content {
                if let old = base[root], CanonicalValue.areEqual(old, value) { continue }
                defaults.set(value, forKey: root)
                changed.append(root)
            }
            for root in base.keys where content.index(forKey: root) == nil {
                defaults.removeObject(forKey: root)
                changed.append(root)
            }
            watcher.didCommit(changed)
        }

        override func end() {
            base = [:]
        }

        /// From the domain alone: arguments and registered defaults must not be written back.
        private func stored() -> Content {
            defaults.persistentDomain(forName: name) ?? [:]
        }

        private static func canonical(_ value: Any, _ root: String) -> Any {
            guard case .success(let copy) = PropertyListVetter.canonical(value, forKey: root) else { return value }
            return copy
        }
    }
#endif
