#if canImport(Darwin)
    package import Foundation
    package import PrefsDefaultsDomain
    import PrefsFileEngine
    import PrefsPropertyLists

    extension UserDefaultsDomain {
        package static func system(_ suiteName: String?) throws(PrefsError) -> any SystemDefaults {
            try AppleDefaults.shared(suiteName)
        }

        /// Creates the domain of a suite. It knows every entry that other code sets.
        static func of(
            _ suiteName: String?
        ) throws(PrefsError) -> (any Domain, NewestEntry?) {
            (DefaultsDomain.of(try AppleDefaults.shared(suiteName)), nil)
        }
    }

    /// `UserDefaults` and the system around it. Type-checked only, never run: each member is one or two calls. All
    /// decisions are made above `SystemDefaults`, where they run against a model.
    ///
    /// Unchecked because `UserDefaults` is not Sendable, although any thread may use it.
    private final class AppleDefaults: NSObject, SystemDefaults, @unchecked Sendable {
        let slot = DomainSlot()
        private let name: String
        private let defaults: UserDefaults

        /// The actions by number, which is the context of the observation.
        private let actions = Locked<[Int: @Sendable () -> Void]>([:])

        private static let domains = Locked<[String?: AppleDefaults]>([:])

        /// The object of a domain. It lives until the process ends, as its observers do.
        static func shared(_ suiteName: String?) throws(PrefsError) -> AppleDefaults {
            try domains.withLock { domains throws(PrefsError) in
                if let domain = domains[suiteName] { return domain }
                let domain = try AppleDefaults(suiteName)
                domains[suiteName] = domain
                return domain
            }
        }

        private init(_ suiteName: String?) throws(PrefsError) {
            if let suiteName {
                guard let defaults = UserDefaults(suiteName: suiteName) else {
                    throw .invalidName(name: suiteName, reason: "is not a valid suite name: UserDefaults rejects it")
                }
                self.defaults = defaults
                name = suiteName
            } else {
                defaults = .standard
                name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
            }
            super.init()
        }

        // MARK: - Entries

        func object(forKey key: String) -> Any? { defaults.object(forKey: key) }

        func isForced(_ key: String) -> Bool { defaults.objectIsForced(forKey: key) }

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
            let number = actions.withLock { actions in
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
            actions.withLock { $0[Int(bitPattern: context)] }?()
        }

        func observeOwnChanges(_ changed: @escaping @Sendable () -> Void) {
            Self.observe(UserDefaults.didChangeNotification, changed)
        }

        /// Uses the name of the notification, because the constant is in UIKit. A program without UIKit never receives
        /// it.
        func observeUnlock(_ unlocked: @escaping @Sendable () -> Void) {
            Self.observe(Notification.Name("UIApplicationProtectedDataDidBecomeAvailable"), unlocked)
        }

        private static func observe(_ name: Notification.Name, _ action: @escaping @Sendable () -> Void) {
            _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in action() }
        }

        // MARK: - Limits and protection

        /// tvOS: `UserDefaults.sizeLimitExceededNotification`; watchOS: RevenueCat/purchases-ios#5912; others: #225
        /// there.
        #if os(tvOS) || os(watchOS)
            let sizeLimits: (warning: Int?, maximum: Int) = (512_000, 1_000_000)
        #else
            let sizeLimits: (warning: Int?, maximum: Int) = (nil, 4 << 20)
        #endif

        #if (os(iOS) || os(watchOS) || os(visionOS)) && !targetEnvironment(simulator) && !targetEnvironment(macCatalyst)
            let hasDataProtection = true
        #else
            let hasDataProtection = false
        #endif

        /// The path of a file; in the container of the app group, if the domain belongs to a group.
        private func path(of file: ProtectedFile) -> String {
            let group = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: name)
            let container = group?.path(percentEncoded: false) ?? NSHomeDirectory()
            return switch file {
            case .domain: "\(container)/Library/Preferences/\(name).plist"
            case .marker: "\(container)/Library/Application Support/PersistentPreferences/\(name).marker"
            }
        }

        func contents(of file: ProtectedFile) -> ProtectedContents {
            let descriptor = Foundation.open(path(of: file), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else {
                let code = errno
                return switch code {
                case ENOENT, ENOTDIR: .missing
                case EPERM, EACCES: .locked
                default: .unreadable(String(cString: strerror(code)))
                }
            }
            defer { _ = Foundation.close(descriptor) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            do {
                return .bytes(Array(try handle.readToEnd() ?? Data()))
            } catch {
                return .locked
            }
        }

        func setMarker(_ exists: Bool) {
            let path = path(of: .marker)
            guard exists else {
                _ = Foundation.unlink(path)
                return
            }
            let folder = (path as NSString).deletingLastPathComponent
            try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return }
            _ = fcntl(descriptor, F_SETPROTECTIONCLASS, FileProtection.completeUntilFirstUnlock.number)
            _ = Foundation.write(descriptor, "\n", 1)
            _ = Foundation.close(descriptor)
        }
    }

    extension UserDefaults {
        /// Runs the body. On Apple platforms, no locale changes what `UserDefaults` reads and writes.
        package static func inCLocale<R>(_ body: () throws -> R) rethrows -> R { try body() }

        /// nil, because Apple platforms do not tell the name of a domain.
        package var domainName: String? { nil }
    }
#endif
