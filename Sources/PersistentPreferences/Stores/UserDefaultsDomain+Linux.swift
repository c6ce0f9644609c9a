#if os(Linux) || os(Android)
    package import Foundation
    import PrefsFileEngine
    import PrefsPropertyLists

    extension UserDefaultsDomain {
        /// The domain of a suite: the engine on the file of UserDefaults.
        static func of(
            _ suiteName: String?
        ) throws(PrefsError) -> (any Domain, NewestEntry?) {
            let folder = try ConfigurationFolder.path.mapError(PrefsError.unreadable).get()
            let name =
                if let suiteName { suiteName } else {
                    try ConfigurationFolder.program.mapError(PrefsError.unreadable).get()
                }
            let mirror = UserDefaultsMirror.of(suiteName)
            let path = "\(folder)/\(name).plist"
            let file = FileLocation(path: path) {
                $0.mirror = FileRules.DefaultsMirror(
                    willChange: mirror.synchronize, didChange: mirror.synchronize, note: mirror.note)
            }
            return (file, mirror.newest)
        }
    }

    /// Keeps `UserDefaults` in step with the file. Its `synchronize()` writes dirty keys, unsafely, and drops its
    /// cache. Without dirty keys it costs less than a microsecond.
    ///
    /// Unchecked because `UserDefaults` is not Sendable. One thread at a time calls it, because its documentation does
    /// not allow several.
    private final class UserDefaultsMirror: @unchecked Sendable {
        private static let calls = Lock()

        /// The mirrors by the names of suites. The standard domain has an empty name.
        private static let mirrors = Locked<[String: UserDefaultsMirror]>([:])

        /// The one mirror of a domain in this process, which knows what UserDefaults has read.
        static func of(_ suiteName: String?) -> UserDefaultsMirror {
            mirrors.withLock { mirrors in
                if let mirror = mirrors[suiteName ?? ""] { return mirror }
                let mirror = UserDefaultsMirror(suiteName: suiteName)
                mirrors[suiteName ?? ""] = mirror
                return mirror
            }
        }

        private let suiteName: String?
        /// Made at its first use, under the lock of all calls, because most programs that only read never need it.
        private lazy var defaults: UserDefaults? = suiteName.map { UserDefaults(suiteName: $0) } ?? .standard
        /// The states of the domain that UserDefaults may have read since it was last synchronized, the newest last.
        /// UserDefaults does not tell when it reads the file.
        private let loaded = Locked<[[String: StoredValue]]>([])

        private static let mostStates = 8

        private init(suiteName: String?) {
            self.suiteName = suiteName
        }

        /// Remembers the state that UserDefaults will read at its next access, unless another program changes the file
        /// before.
        @Sendable func note(_ content: [String: StoredValue]?) {
            loaded.withLock { $0 = [content ?? [:]] }
        }

        /// The newest value of a key: the stored one, unless other code has set or removed it on UserDefaults and not
        /// synchronized. UserDefaults may also have read an older state of the file.
        @Sendable func newest(_ key: String, _ stored: StoredValue?, in content: [String: StoredValue]?) -> StoredValue?
        {
            Self.calling {
                let content = content ?? [:]
                loaded.withLock { loaded in
                    if loaded.last?.isIdentical(to: content) == true { return }
                    if loaded.count == Self.mostStates { loaded.removeFirst() }
                    loaded.append(content)
                }
                // `object(forKey:)` copies one value and not the domain, but also finds arguments, registered defaults
                // and other domains. If it finds the stored value, the value may also be an equal registered default
                // that hides a removal that is not synchronized.
                var set = defaults?.value(ofEntry: key)
                var isStored = Self.areAlike(set, stored)
                if set != nil, !isStored {
                    set = defaults?.value(ofEntry: key, inDomain: suiteName ?? UserDefaults.standardDomain)
                    isStored = Self.areAlike(set, stored)
                }
                if isStored { return stored }
                let isOld = loaded.withLock { $0.contains { Self.areAlike(set, $0[key]) } }
                return isOld ? stored : set
            }
        }

        /// Compares values as UserDefaults does, which may return a number of another type.
        private static func areAlike(_ left: StoredValue?, _ right: StoredValue?) -> Bool {
            switch (left, right) {
            case (.array(let left)?, .array(let right)?):
                left.count == right.count && zip(left, right).allSatisfy { areAlike($0, $1) }
            case (.dictionary(let left)?, .dictionary(let right)?):
                left.count == right.count && left.allSatisfy { areAlike($1, right[$0]) }
            case (let left?, let right?) where left.isNumber && right.isNumber:
                left == right || left.nearestDouble == right.nearestDouble
                    || bits(of: left).map { $0 == bits(of: right) } ?? false
            default: left == right
            }
        }

        /// nil for a real number.
        private static func bits(of number: StoredValue) -> Int64? {
            switch number {
            case .integer(let value): value
            case .unsigned(let value): Int64(bitPattern: value)
            default: nil
            }
        }

        /// Before a commit, writes the dirty keys of other code, so that they are neither lost nor written over the
        /// commit. After a commit, makes UserDefaults read the file again.
        @Sendable func synchronize() {
            Self.calling {
                // Returns false for dirty keys of other code, in any suite of the process; this package's own write
                // reports its own errors.
                _ = defaults?.synchronize()
                loaded.withLock { $0 = [] }
            }
        }

        /// Runs one call at a time.
        private static func calling<R>(_ body: () -> R) -> R {
            calls.withLock { UserDefaults.inCLocale(body) }
        }
    }

    extension UserDefaults {
        /// Runs the body with the thread in the C locale. Every call on a `UserDefaults` object needs it: Foundation's XML
        /// parser uses the decimal separator of the thread's locale. A domain that it cannot parse reads as empty, and
        /// the next `synchronize()` loses its file.
        package static func inCLocale<R>(_ body: () throws -> R) rethrows -> R {
            let own = uselocale(cLocale)
            defer { uselocale(own) }
            return try body()
        }

        nonisolated(unsafe) private static let cLocale = newlocale(1 << LC_NUMERIC, "C", nil)

        /// The name under which Foundation keeps the standard domain.
        package static let standardDomain = "kCFPreferencesCurrentApplication"

        /// The name of the domain that the object writes to; nil if it is unknown. Foundation keeps it in a private
        /// property.
        package var domainName: String? {
            var mirror: Mirror? = Mirror(reflecting: self)
            // The object may be of a subclass, which has properties of its own.
            while let current = mirror, current.subjectType != UserDefaults.self { mirror = current.superclassMirror }
            guard let suite = mirror?.children.first(where: { $0.label == "suite" })?.value else { return nil }
            return (suite as? String?).map { $0 ?? Self.standardDomain }
        }
    }
#endif
