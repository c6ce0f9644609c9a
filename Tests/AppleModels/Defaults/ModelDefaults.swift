import Foundation
package import PrefsDefaultsDomain

/// A model of `UserDefaults` in one process: a domain of a ``ModelDaemon``, behind arguments and before registered defaults.
///
/// - Assumption: A process reads its own changes at once.
///   Source: UserDefaults, "reflected synchronously within your process".
/// - Assumption: Key-value observers are notified of changes of their own process on the thread of `set`, before it returns.
///   Source: UserDefaults in the release notes of Foundation for macOS 10.12; Key-Value Observing Programming Guide.
/// - Assumption: Key-value observers are notified of other processes' changes on any thread, once the value can be read.
///   Source: UserDefaults in the release notes of Foundation for macOS 10.12.
/// - Assumption: `didChangeNotification` is posted for changes of the own process only, on the thread of `set`.
///   Source: UserDefaults, `didChangeNotification`.
/// - Assumption: A key path is cut at dots, so that keys with a dot or a leading `@` are not observed.
///   Source: Key-Value Coding Programming Guide, "Accessing Object Properties".
/// - Assumption: `object(forKey:)` looks at managed values, arguments, the domain, the global domain and registered defaults.
///   Source: UserDefaults; Preferences and Settings Programming Guide, "The Organization of Preferences".
/// - Assumption: `persistentDomain(forName:)` returns the entries of the domain only.
///   Source: UserDefaults, `persistentDomain(forName:)`.
/// - Assumption: Leaves are objects of classes of Foundation, and numbers have any width.
///   Source: CFPropertyList and CFPreferences in the sources of CF.
package final class ModelDefaults: SystemDefaults, @unchecked Sendable {
    package let slot = DomainSlot()
    private let daemon: ModelDaemon
    private let lock = NSLock()
    // Under the lock.
    /// What the daemon has told; nil before the first access.
    private var known: [String: Any]? { didSet { shown = nil } }
    /// The known entries with the changes that are not acknowledged; nil if they must be computed again.
    private var shown: [String: Any]?
    private var unacknowledged: [ModelDaemon.Change] = []
    private var observers: [String: [@Sendable () -> Void]] = [:]
    private var ownChangeObservers: [@Sendable () -> Void] = []
    private var unlockObservers: [@Sendable () -> Void] = []
    private var copies = 0
    private var reads = 0

    package var managed: [String: Any] = [:]
    package var arguments: [String: Any] = [:]
    package var registered: [String: Any] = [:]
    package var global: [String: Any] = [:]
    /// Whether the process receives the values that the daemon reads after an unlock.
    package var hearsOfReload = true
    package var sizeLimits: (warning: Int?, maximum: Int) = (nil, 4 << 20)
    package var hasDataProtection = true
    /// Called at the beginning of `set`, so that a test can interfere.
    package var willSet: (@Sendable (String) -> Void)?
    /// Called after both protected files were examined, so that a test can interfere.
    package var didLook: (@Sendable () -> Void)?
    /// Called at the end of `object(forKey:)`, so that a test can interfere.
    package var didRead: (@Sendable (String) -> Void)?

    init(_ daemon: ModelDaemon) {
        self.daemon = daemon
    }

    /// Returns how often the whole domain was copied since the last call.
    package func takeCopies() -> Int { take(\.copies) }

    /// Returns how often one entry was read since the last call.
    package func takeReads() -> Int { take(\.reads) }

    private func take(_ count: ReferenceWritableKeyPath<ModelDefaults, Int>) -> Int {
        lock.withLock {
            defer { self[keyPath: count] = 0 }
            return self[keyPath: count]
        }
    }

    // MARK: - Entries

    package func object(forKey key: String) -> Any? {
        let found = lock.withLock {
            reads += 1
            return managed[key] ?? arguments[key] ?? state()[key] ?? global[key] ?? registered[key]
        }
        didRead?(key)
        return found.map(Self.foreign)
    }

    package func isForced(_ key: String) -> Bool {
        lock.withLock { managed.index(forKey: key) != nil }
    }

    package func isInOtherDomains(_ key: String) -> Bool {
        lock.withLock { [managed, arguments, global, registered].contains { $0.index(forKey: key) != nil } }
    }

    package func allEntries() -> [String: Any] {
        lock.withLock {
            copies += 1
            return state().mapValues(Self.foreign)
        }
    }

    /// Under the lock.
    private func state() -> [String: Any] {
        if let shown { return shown }
        let loaded = known ?? daemon.current
        known = loaded
        let state = unacknowledged.reduce(into: loaded) { $0[$1.key] = $1.value }
        shown = state
        return state
    }

    package func set(_ object: Any?, forKey key: String) {
        willSet?(key)
        lock.withLock {
            var state = state()
            unacknowledged.append((key, object))
            state[key] = object
            shown = state
        }
        daemon.send((key, object), from: self)
        tell(key)
        lock.withLock { ownChangeObservers }.forEach { $0() }
    }

    /// The domain as other code of the process sees it, in canonical form.
    package var entries: [String: Any] { lock.withLock { state() } }

    // MARK: - From the daemon

    func acknowledge(_ change: ModelDaemon.Change) {
        lock.withLock {
            known?[change.key] = change.value
            unacknowledged.removeFirst()
        }
    }

    func receive(_ change: ModelDaemon.Change) {
        let isHidden = lock.withLock {
            known?[change.key] = change.value
            return unacknowledged.contains { $0.key == change.key }
        }
        if !isHidden { tell(change.key) }
    }

    func reload() {
        let former = lock.withLock { () -> [String: Any]? in
            guard hearsOfReload, known != nil else { return nil }
            defer { known = daemon.current }
            return known
        }
        guard let former else { return }
        Set(former.keys).union(daemon.current.keys).forEach(tell)
    }

    /// Notifies the process that protected data has become available.
    package func notifyUnlock() {
        lock.withLock { if known != nil { known = daemon.current } }
        lock.withLock { unlockObservers }.forEach { $0() }
    }

    // MARK: - Observers

    private func tell(_ key: String) {
        guard !key.contains("."), !key.hasPrefix("@") else { return }
        lock.withLock { observers[key] ?? [] }.forEach { $0() }
    }

    package func observe(_ key: String, _ changed: @escaping @Sendable () -> Void) {
        lock.withLock { observers[key, default: []].append(changed) }
    }

    package func observeOwnChanges(_ changed: @escaping @Sendable () -> Void) {
        lock.withLock { ownChangeObservers.append(changed) }
    }

    package func observeUnlock(_ unlocked: @escaping @Sendable () -> Void) {
        lock.withLock { unlockObservers.append(unlocked) }
    }

    /// The keys that are observed, sorted.
    package var observedKeys: [String] { lock.withLock { observers.keys.sorted() } }

    // MARK: - Protection

    package func contents(of file: ProtectedFile) -> ProtectedContents {
        defer { if case .marker = file { didLook?() } }
        return daemon.contents(of: file)
    }

    package func setMarker(_ exists: Bool) { daemon.hasMarker = exists }

    // MARK: - Foreign classes

    /// Returns an equal value of other classes.
    private static func foreign(_ value: Any) -> Any {
        switch value {
        case let flag as Bool where type(of: value) == Bool.self: return NSNumber(value: flag)
        case let number as NSNumber: return foreign(number)
        case let text as String: return NSMutableString(string: text)
        case let data as Data: return NSMutableData(data: data)
        case let date as Date: return NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case let list as [Any]: return NSMutableArray(array: list.map(foreign))
        case let dictionary as [String: Any]:
            let copy = NSMutableDictionary()
            for (key, value) in dictionary { copy[NSString(string: key)] = foreign(value) }
            return copy
        default: return value
        }
    }

    private static func foreign(_ number: NSNumber) -> NSNumber {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "q"):
            if let small = Int8(exactly: number.int64Value) { return NSNumber(value: small) }
            return Int32(exactly: number.int64Value).map { NSNumber(value: $0) } ?? number
        case UInt8(ascii: "d"):
            let narrow = Float(number.doubleValue)
            return Double(narrow) == number.doubleValue ? NSNumber(value: narrow) : number
        default: return number
        }
    }
}
