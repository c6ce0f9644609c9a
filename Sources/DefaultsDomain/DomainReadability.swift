import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// Distinguishes an empty domain from one that cannot be read yet.
///
/// Between a restart of the device and its first unlock, the domain's file is encrypted. `UserDefaults` then reads as
/// empty, and a value that is set replaces the file. So until a process has found the domain readable, each access
/// checks the file and a marker of the same protection class. The domain is unreadable
/// - if the file or the marker exists and cannot be opened;
/// - if the file has entries that `UserDefaults` does not return, because it has not read the file since the unlock;
/// - if the file or the marker could not be opened before, the marker exists, the file is missing, the domain is empty,
///   and the system has not announced the unlock yet.
///
/// In all other cases the domain is readable until the process ends, because a device returns to the encrypted state
/// only by a restart. Other code may have removed a domain whose marker exists, so the marker alone proves nothing once
/// it can be opened.
final class DomainReadability: Sendable {
    private let system: any SystemDefaults
    private let state: Locked<State>

    private struct State {
        var isReadable: Bool
        /// Whether the marker exists; nil if that is unknown.
        var hasMarker: Bool?
        /// Whether this process ran before the unlock and was not notified of it.
        var awaitsUnlock = false
        var unlocks = 0
    }

    init(_ system: any SystemDefaults) {
        self.system = system
        state = Locked(State(isReadable: !system.hasDataProtection))
    }

    /// - Returns: whether the domain has become readable, after this process has found it unreadable.
    /// - Throws: `FileError.unreadable`.
    @discardableResult
    func check() throws(FileError) -> Bool {
        let (isKnown, unlocks) = state.withLock { ($0.isReadable, $0.unlocks) }
        if isKnown { return false }
        let (file, marker) = (system.contents(of: .domain), system.contents(of: .marker))
        if let reason = file.lockedReason ?? marker.lockedReason {
            // An unlock that was announced in the meantime is not awaited.
            state.withLock { if $0.unlocks == unlocks { $0.awaitsUnlock = true } }
            throw Self.unreadable(reason)
        }
        let wasLocked = state.withLock { $0.awaitsUnlock }
        if case .bytes(let bytes) = file {
            guard isShown(bytes, wasLocked: wasLocked) else {
                throw Self.unreadable("the domain's file has entries, and UserDefaults does not return them yet")
            }
        } else if case .bytes = marker, wasLocked, system.allEntries().isEmpty {
            throw Self.unreadable("the domain has had values, and UserDefaults returns none yet")
        }
        return state.withLock { state in
            defer { state.isReadable = true }
            return !state.isReadable && wasLocked
        }
    }

    /// Whether `UserDefaults` returns the entries of the file.
    ///
    /// Each key must be present; values may be newer than the file. If this process did not run before the unlock, one
    /// equal entry is enough, because other code may have removed an entry that the daemon has not yet removed from the
    /// file.
    private func isShown(_ bytes: [UInt8], wasLocked: Bool) -> Bool {
        let shown = system.allEntries()
        guard let stored = try? PropertyListCoder.decode(Data(bytes)).value.dictionary else {
            return !shown.isEmpty
        }
        if stored.keys.allSatisfy({ shown.index(forKey: $0) != nil }) { return true }
        return !wasLocked
            && stored.contains { key, value in
                shown[key].map { PropertyListVetter.value(ofStored: $0) == value } ?? false
            }
    }

    /// Records that the system has announced that protected data is available.
    func didUnlock() {
        state.withLock {
            $0.unlocks += 1
            $0.awaitsUnlock = false
        }
    }

    /// Updates the marker, which shows whether the domain has values.
    func didCommit(isEmpty: Bool) {
        guard system.hasDataProtection, state.withLock({ $0.hasMarker != !isEmpty }) else { return }
        system.setMarker(!isEmpty)
        state.withLock { $0.hasMarker = !isEmpty }
    }

    private static func unreadable(_ reason: String) -> FileError {
        .unreadable(StorageFailure(path: "", reason: "UserDefaults cannot be read: \(reason)"))
    }
}

extension ProtectedContents {
    /// Why the file cannot be read; nil if it can be read or is missing.
    fileprivate var lockedReason: String? {
        switch self {
        case .missing, .bytes: nil
        case .locked: "the device has not been unlocked since it was started"
        case .unreadable(let reason): "its file cannot be opened: \(reason)"
        }
    }
}
