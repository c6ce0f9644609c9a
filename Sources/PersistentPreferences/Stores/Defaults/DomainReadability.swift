import Foundation

/// Tells an empty domain from one that cannot be read yet.
///
/// Between a restart of the device and its first unlock, the domain's file is encrypted: `UserDefaults` reads as empty, and
/// what is then set replaces the file. So until a process has found the domain readable, each access looks at the file, and at
/// a marker of the same protection class. The domain is unreadable
/// - if the file or the marker exists and cannot be opened;
/// - if the file has entries and `UserDefaults` returns none of them: it has not read the file since the unlock;
/// - if one of them could not be opened before, the marker exists, the domain is empty, and the system has not announced the
///   unlock yet.
///
/// In any other case the domain is what `UserDefaults` says, until the process ends: a device does not return to that state
/// without a restart. Other code may have removed a domain whose marker exists, so the marker alone proves nothing once it can
/// be opened.
final class DomainReadability: @unchecked Sendable {
    private let system: any SystemDefaults
    private let lock = Lock()
    // Under the lock.
    private var isReadable: Bool
    private var hasMarker = false
    /// Whether this process has run before the unlock and has not been told of the unlock yet.
    private var awaitsUnlock = false

    init(_ system: any SystemDefaults) {
        self.system = system
        isReadable = !system.hasDataProtection
        hasMarker = isReadable
    }

    /// Called once, by the domain's initializer.
    func start() {
        system.observeUnlock { [weak self] in
            guard let self else { return }
            lock.withLock { awaitsUnlock = false }
        }
    }

    /// - Throws: `FileError.unreadable`.
    func check() throws(FileError) {
        if lock.withLock({ isReadable }) { return }
        let (file, marker) = (system.contents(of: .domain), system.contents(of: .marker))
        if case .locked = file { throw waiting() }
        if case .locked = marker { throw waiting() }
        let found = system.allEntries()
        if case .bytes(let bytes) = file {
            let stored = (try? PropertyListCoder.decode(Data(bytes)).value) as? [String: Any] ?? [:]
            if !stored.isEmpty, !stored.keys.contains(where: { found.index(forKey: $0) != nil }) {
                throw Self.unreadable("the domain's file has entries, and UserDefaults returns none of them yet")
            }
        }
        if case .bytes = marker, found.isEmpty, lock.withLock({ awaitsUnlock }) {
            throw Self.unreadable("the domain has had values, and UserDefaults returns none yet")
        }
        lock.withLock { isReadable = true }
    }

    private func waiting() -> FileError {
        lock.withLock { awaitsUnlock = true }
        return Self.unreadable("the device has not been unlocked since it was started")
    }

    /// Creates the marker: from now on the domain has values.
    func didCommit() {
        guard lock.withLock({ !hasMarker }) else { return }
        system.createMarker()
        lock.withLock { hasMarker = true }
    }

    private static func unreadable(_ reason: String) -> FileError {
        .unreadable(StorageFailure(path: "", reason: "UserDefaults cannot be read: \(reason)"))
    }
}
