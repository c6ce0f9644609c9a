#if canImport(Darwin)
    import Foundation

    extension UserDefaultsStore {
        static func backend(_ suiteName: String?) throws(PrefsError) -> any DomainBackend {
            DefaultsBackend(DefaultsDomain.of(try AppleDefaults.shared(suiteName)))
        }
    }

    /// `UserDefaults` and the system around it. Type-checked only: each member is a call or two. All decisions are made above
    /// `SystemDefaults`, where they run against a model.
    private final class AppleDefaults: NSObject, SystemDefaults, @unchecked Sendable {
        let slot = DomainSlot()
        private let name: String
        private let defaults: UserDefaults
        /// Where the files are; nil if there is no home.
        private let container: String?

        private let lock = Lock()
        // Under the lock: by number, which is the context of the observation.
        private var actions: [Int: @Sendable () -> Void] = [:]

        private static let registry = Lock()
        nonisolated(unsafe) private static var domains: [String?: AppleDefaults] = [:]

        /// The one object of a domain. Lives until the process ends, as its observers do.
        static func shared(_ suiteName: String?) throws(PrefsError) -> AppleDefaults {
            try registry.withLock { () throws(PrefsError) in
                if let domain = domains[suiteName] { return domain }
                let domain = try AppleDefaults(suiteName)
                domains[suiteName] = domain
                return domain
            }
        }

        private init(_ suiteName: String?) throws(PrefsError) {
            if let suiteName {
                guard let defaults = UserDefaults(suiteName: suiteName) else {
                    throw .invalidName(name: suiteName, reason: "is no suite name: UserDefaults refuses it")
                }
                self.defaults = defaults
                name = suiteName
            } else {
                defaults = .standard
                name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
            }
            let group = suiteName.flatMap {
                FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0)
            }
            container = group?.path(percentEncoded: false) ?? NSHomeDirectory()
            super.init()
        }

        // MARK: - Entries

        func object(forKey key: String) -> Any? { defaults.object(forKey: key) }

        func isInOtherDomains(_ key: String) -> Bool {
            defaults.objectIsForced(forKey: key)
                || defaults.volatileDomain(forName: UserDefaults.argumentDomain)[key] != nil
                || defaults.volatileDomain(forName: UserDefaults.registrationDomain)[key] != nil
                || defaults.persistentDomain(forName: UserDefaults.globalDomain)?[key] != nil
        }

        func allEntries() -> [String: Any] { defaults.persistentDomain(forName: name) ?? [:] }

        func set(_ object: Any?, forKey key: String) {
            if let object { defaults.set(object, forKey: key) } else { defaults.removeObject(forKey: key) }
        }

        // MARK: - Reported changes

        func observe(_ key: String, _ changed: @escaping @Sendable () -> Void) {
            let number = lock.withLock {
                actions[actions.count + 1] = changed
                return actions.count
            }
            defaults.addObserver(
                self, forKeyPath: key, options: [], context: UnsafeMutableRawPointer(bitPattern: number))
        }

        override func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {
            lock.withLock { actions[Int(bitPattern: context)] }?()
        }

        func observeOwnChanges(_ changed: @escaping @Sendable () -> Void) {
            Self.observe(UserDefaults.didChangeNotification, changed)
        }

        /// By the name of the notification, whose constant is in UIKit. A program without UIKit never gets it.
        func observeUnlock(_ unlocked: @escaping @Sendable () -> Void) {
            Self.observe(Notification.Name("UIApplicationProtectedDataDidBecomeAvailable"), unlocked)
        }

        private static func observe(_ name: Notification.Name, _ action: @escaping @Sendable () -> Void) {
            _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in action() }
        }

        // MARK: - Limits and protection

        #if os(tvOS)
            var sizeLimits: (warning: Int?, maximum: Int) { (512_000, 1_000_000) }
        #else
            var sizeLimits: (warning: Int?, maximum: Int) { (nil, 4 << 20) }
        #endif

        #if (os(iOS) || os(watchOS) || os(visionOS)) && !targetEnvironment(simulator) && !targetEnvironment(macCatalyst)
            let hasDataProtection = true
        #else
            let hasDataProtection = false
        #endif

        private func path(of file: ProtectedFile) -> String? {
            guard let container else { return nil }
            return switch file {
            case .domain: "\(container)/Library/Preferences/\(name).plist"
            case .marker: "\(container)/Library/Application Support/PersistentPreferences/\(name).marker"
            }
        }

        func contents(of file: ProtectedFile) -> ProtectedContents {
            guard let path = path(of: file) else { return .missing }
            let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { return Foundation.access(path, F_OK) == 0 ? .locked : .missing }
            defer { _ = Foundation.close(descriptor) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            guard let bytes = try? handle.readToEnd() ?? Data() else { return .locked }
            return .bytes(Array(bytes))
        }

        /// May fail: without a marker, the domain's file alone decides.
        func createMarker() {
            guard let path = path(of: .marker) else { return }
            let folder = (path as NSString).deletingLastPathComponent
            try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
            let descriptor = Foundation.open(path, flags, 0o600)
            guard descriptor >= 0 else { return }
            _ = fcntl(descriptor, F_SETPROTECTIONCLASS, FileProtection.completeUntilFirstUnlock.rawValue)
            _ = Foundation.close(descriptor)
        }
    }
#endif
