#if os(Linux) || os(Android)
    import Foundation

    extension UserDefaultsStore {
        /// The engine on the file of a UserDefaults domain.
        struct Backend: Sendable {
            let fileURL: URL?
            private let file: FileLocation
            private let companion: UserDefaultsCompanion

            init(suiteName: String?) throws(PrefsError) {
                let folder = try ConfigurationFolder.path.mapError(PrefsError.unreadable).get()
                let path = "\(folder)/\(suiteName ?? ConfigurationFolder.program).plist"
                let companion = UserDefaultsCompanion(suiteName: suiteName)
                self.companion = companion
                fileURL = URL(filePath: path, directoryHint: .notDirectory)
                file = FileLocation(path: path) { $0.setCompanion(companion) }
            }

            func read(root: String) throws -> RootReading {
                try file.read(root: root, durability: .powerCut)
            }

            func transact(_ root: String, _ body: (Transaction) throws -> Void) throws {
                try file.transact(root, durability: .powerCut, body)
            }

            func follow(root: String, _ listener: any EntryListener, from heard: HeardEntry?) throws -> any Following {
                try file.follow(root: root, listener, from: heard)
            }

            /// The engine's state, unless UserDefaults has another: then either is newer, and what is only in the memory
            /// of UserDefaults is written first.
            func entry(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any? {
                // The engine looks first: of a damaged file UserDefaults may die.
                let entry = try stored(key)
                if companion.agrees(on: key, entry) { return entry }
                if let transaction = Transaction.current {
                    // Inside an update nothing else is written: it reads its own state, or what is likely to be newer.
                    return try file.withFile { transaction.owner === $0 } ? entry : companion.object(forKey: key)
                }
                do {
                    try PrefsError.converting { try file.withFile { try $0.transact(durability: .powerCut) { _ in } } }
                } catch {
                    // Not to be written now, by a reader; but more likely new than the file.
                    report(PrefsError(error))
                    return companion.object(forKey: key)
                }
                let settled = try stored(key)
                companion.settle(key, settled)
                return settled
            }

            private func stored(_ key: String) throws -> Any? {
                try PrefsError.converting {
                    try file.withFile { file in
                        let reading = try file.read()
                        if let notice = reading.notice { throw notice }
                        return reading.content?[key]
                    }
                }
            }

            @Sendable func content() throws -> [String: Any]? {
                try file.content()
            }

            @Sendable func transact(_ body: (Transaction) throws -> Void) throws {
                try file.transact(durability: .powerCut, body)
            }

            func setEntry(_ object: Any?, forKey key: String) throws {
                try PrefsError.converting {
                    try file.withFile { file in
                        try file.transact(durability: .powerCut) { $0.replace(key, with: object) }
                    }
                }
            }

            func confirm() throws {
                try file.confirm(.powerCut)
            }

            func forget() {
                try? file.withFile { $0.forget() }
            }
        }
    }

    /// Keeps `UserDefaults` in step with the file. Its `synchronize()` writes dirty keys, unsafely, and drops its cache;
    /// with none dirty it costs under a microsecond.
    private final class UserDefaultsCompanion: PropertyListFile.Companion, @unchecked Sendable {
        /// One at a time: nothing says that it may be called by several threads.
        private static let lock = Lock()
        private let defaults: UserDefaults?
        /// Under the lock: objects that UserDefaults shows otherwise than they are stored (UInt64.max, −0.0).
        private var differences: [String: (seen: Any?, stored: Any?)] = [:]

        init(suiteName: String?) {
            defaults = suiteName.map { UserDefaults(suiteName: $0) } ?? .standard
        }

        /// Other code's dirty keys land first, so that they neither get lost nor are written over our commit.
        func willChange() {
            synchronize()
        }

        /// UserDefaults reads the file anew.
        func didChange() {
            synchronize()
        }

        /// What UserDefaults has, written or not.
        func object(forKey key: String) -> Any? {
            Self.lock.withLock { defaults?.canonicalObject(forKey: key) }
        }

        /// Whether UserDefaults shows the same under a key as the file has.
        func agrees(on key: String, _ stored: Any?) -> Bool {
            Self.lock.withLock {
                let seen = defaults?.canonicalObject(forKey: key)
                if CanonicalValue.areEqualOrMissing(seen, stored) { return true }
                if let standing = differences[key], CanonicalValue.areEqualOrMissing(standing.seen, seen),
                    CanonicalValue.areEqualOrMissing(standing.stored, stored)
                {
                    return true
                }
                // Arguments stand before the domain and hide it; registered defaults show where it has nothing.
                if volatile(UserDefaults.argumentDomain, key) != nil { return true }
                return stored == nil
                    && CanonicalValue.areEqualOrMissing(volatile(UserDefaults.registrationDomain, key), seen)
            }
        }

        /// Remembers what UserDefaults makes of a stored object, once it has been synchronized.
        func settle(_ key: String, _ stored: Any?) {
            Self.lock.withLock {
                let seen = defaults?.canonicalObject(forKey: key)
                differences[key] = CanonicalValue.areEqualOrMissing(seen, stored) ? nil : (seen, stored)
            }
        }

        private func volatile(_ domain: String, _ key: String) -> Any? {
            guard let object = defaults?.volatileDomain(forName: domain)[key],
                case .success(let copy) = PropertyListVetter.canonical(object, forKey: key)
            else { return nil }
            return copy
        }

        private func synchronize() {
            // False tells of other code's keys, in any suite of the process; our own write reports for itself.
            Self.lock.withLock { _ = defaults?.synchronize() }
        }
    }
#endif
