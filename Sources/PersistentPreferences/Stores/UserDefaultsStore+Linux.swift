#if os(Linux) || os(Android)
    import Foundation
    import PrefsFileEngine
    import PrefsPropertyLists

    extension UserDefaultsStore {
        static func backend(_ suiteName: String?) throws(PrefsError) -> any DomainBackend {
            try FileBackend(suiteName: suiteName)
        }

        /// The engine on the file of a UserDefaults domain.
        private struct FileBackend: DomainBackend {
            let fileURL: URL?
            private let file: FileLocation
            private let mirror: UserDefaultsMirror

            init(suiteName: String?) throws(PrefsError) {
                let folder = try ConfigurationFolder.path.mapError(PrefsError.unreadable).get()
                let path = "\(folder)/\(suiteName ?? ConfigurationFolder.program).plist"
                let mirror = UserDefaultsMirror.of(suiteName)
                self.mirror = mirror
                fileURL = URL(filePath: path, directoryHint: .notDirectory)
                file = FileLocation(path: path) { $0.setMirror(mirror) }
            }

            func read(root: String, _ layout: DomainLayout) throws -> RootSnapshot {
                try file.read(root: root, layout, durability: .powerCut)
            }

            func transact(_ root: String, _ layout: DomainLayout, _ body: (RootTransaction) throws -> Void) throws {
                try file.transact(root, layout, durability: .powerCut, body)
            }

            func subscribe(
                to root: String, _ layout: DomainLayout, keys: [String], _ subscriber: any EntrySubscriber,
                from known: LastKnownEntry?
            ) throws -> EntrySubscription {
                try file.subscribe(to: root, layout, subscriber, from: known)
            }

            /// The engine's state, or what other code has set on UserDefaults and not synchronized. Writes nothing.
            func entry(forKey key: String, _ report: (PrefsError) -> Void) throws -> Any? {
                let reading = try PrefsError.converting { try file.read() }
                let entry = reading.content?[key]
                if let warning = reading.warning {
                    report(PrefsError(warning))
                    // UserDefaults may crash on a malformed file.
                    return entry
                }
                // Without a revision it is the thread's own update.
                return reading.revision == nil ? entry : mirror.newest(key, entry, in: reading.content)
            }

            @Sendable func content() throws -> (content: [String: Any]?, failure: PrefsError?) {
                let reading = try file.read()
                return (reading.content, reading.warning.map { PrefsError($0) })
            }

            @Sendable func transact(_ body: (Transaction) throws -> Void) throws {
                try file.transact(durability: .powerCut, body)
            }

            func takeWarning() -> PrefsError? {
                file.takeWarning()
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

    /// Keeps `UserDefaults` in step with the file. Its `synchronize()` writes dirty keys, unsafely, and drops its cache; with none
    /// dirty it costs under a microsecond.
    ///
    /// Its calls run in the C locale: Foundation's XML parser takes the decimal separator of the thread's locale, and a file that
    /// it cannot parse is lost at the next `synchronize()`.
    private final class UserDefaultsMirror: PropertyListFile.Mirror, @unchecked Sendable {
        /// One at a time: nothing says that it may be called by several threads.
        private static let lock = Lock()
        /// A domain that is never written: it shows what stands before and behind every domain, as registered defaults do.
        private static let noDomain = "PersistentPreferences.NoDomain"

        nonisolated(unsafe) private static var mirrors: [String?: UserDefaultsMirror] = [:]

        /// The one of a domain in this process: what UserDefaults has read is known to it alone.
        static func of(_ suiteName: String?) -> UserDefaultsMirror {
            lock.withLock {
                if let mirror = mirrors[suiteName] { return mirror }
                let mirror = UserDefaultsMirror(suiteName: suiteName)
                mirrors[suiteName] = mirror
                return mirror
            }
        }

        private let defaults: UserDefaults?
        /// Under the lock: the domain as UserDefaults has read it, as far as that is known; nil if it reads the file anew.
        private var loaded: [String: Any]?

        private init(suiteName: String?) {
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

        /// Remembers what UserDefaults reads at its next access, unless another program changes the file before.
        func note(_ content: [String: Any]?) {
            Self.lock.withLock { loaded = content ?? [:] }
        }

        /// What counts as the value of a key that the file has as `stored`: that, unless other code has set another one on
        /// UserDefaults and not synchronized it. UserDefaults may also have read an older state of the file.
        func newest(_ key: String, _ stored: Any?, in content: [String: Any]?) -> Any? {
            Self.inCLocale {
                let former = loaded ?? content ?? [:]
                loaded = former
                let seen = defaults?.canonicalObject(forKey: key)
                if Self.areAlike(seen, stored) {
                    if !Self.areAlike(former[key], stored) { loaded?[key] = stored }
                    return stored
                }
                return isShownOnly(seen, key, former[key]) ? stored : seen
            }
        }

        /// Whether what UserDefaults shows was not set on it: it has read it from the file before, or it comes from the
        /// arguments, which hide the domain, or from registered defaults, which show for what is not there.
        private func isShownOnly(_ seen: Any?, _ key: String, _ read: Any?) -> Bool {
            if Self.areAlike(seen, read) { return true }
            if defaults?.volatileDomain(forName: UserDefaults.argumentDomain)[key] != nil { return true }
            guard read == nil, seen != nil else { return false }
            return Self.areAlike(seen, UserDefaults(suiteName: Self.noDomain)?.canonicalObject(forKey: key))
        }

        private static func areAlike(_ left: Any?, _ right: Any?) -> Bool {
            switch (left, right) {
            case (nil, nil): true
            case (let left?, let right?): areAlike(left, right)
            default: false
            }
        }

        /// As far as UserDefaults tells values apart: it may show a number of another type.
        private static func areAlike(_ left: Any, _ right: Any) -> Bool {
            switch (CanonicalForm(left), CanonicalForm(right)) {
            case (.list(let left), .list(let right)):
                left.count == right.count && zip(left, right).allSatisfy(areAlike)
            case (.dictionary(let left), .dictionary(let right)):
                left.count == right.count
                    && left.allSatisfy { key, value in right[key].map { areAlike(value, $0) } ?? false }
            case (.number(let left), .number(let right)):
                CanonicalNumber(left) == CanonicalNumber(right) || left.doubleValue == right.doubleValue
                    || left.int64Value == right.int64Value && !isReal(left) && !isReal(right)
            default: CanonicalValue.areEqual(left, right)
            }
        }

        private static func isReal(_ number: NSNumber) -> Bool {
            if case .double = CanonicalNumber(number) { true } else { false }
        }

        private func synchronize() {
            Self.inCLocale {
                // False tells of other code's keys, in any suite of the process; our own write reports for itself.
                _ = defaults?.synchronize()
                loaded = nil
            }
        }

        nonisolated(unsafe) private static let cLocale = newlocale(1 << LC_NUMERIC, "C", nil)

        /// Under the lock, with the thread in the C locale.
        private static func inCLocale<R>(_ body: () -> R) -> R {
            lock.withLock {
                let own = uselocale(cLocale)
                defer { uselocale(own) }
                return body()
            }
        }
    }
#endif
