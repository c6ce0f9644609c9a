import Foundation
import PrefsFileEngine
import PrefsPropertyLists

/// Distinguishes an empty domain from one that cannot be read yet.
///
/// Between a restart of the device and its first unlock, the domain's file is encrypted. `UserDefaults` then reads as
/// empty, and the first value that is set replaces the whole file.
///
/// Until this process has found the domain readable, each access therefore checks two files: the domain's own, and a
/// marker with the protection class of the domain's file. The domain is unreadable in three cases:
/// 1. One of the two files exists and cannot be opened.
/// 2. The domain's file has entries, and `UserDefaults` does not return them. It has not read the file since the
///    unlock.
/// 3. The domain's file is missing, `UserDefaults` is empty, and the marker exists. This counts only if this process
///    could not open a file earlier and the system has not announced the unlock since. At other times other code may
///    have removed the domain, and the marker proves nothing.
///
/// Once readable, the domain stays readable until the process ends: only a restart of the device encrypts it again.
final class DomainReadability: Sendable {
    private let system: any SystemDefaults
    private let state: Locked<State>

    private struct State {
        var isReadable: Bool
        /// Whether the marker exists; nil if that is unknown.
        var hasMarker: Bool?
        /// Whether this process has found a locked file, and the system has not announced an unlock since.
        var awaitsUnlock = false
        /// The number of unlocks that the system has announced.
        var unlocks = 0
    }

    init(_ system: any SystemDefaults) {
        self.system = system
        state = Locked(State(isReadable: !system.hasDataProtection))
    }

    /// Checks the files, unless the domain is known to be readable.
    ///
    /// - Returns: true once, if the domain was locked before and is readable now.
    /// - Throws: `FileError.unreadable`.
    @discardableResult
    func check() throws(FileError) -> Bool {
        let (isKnown, unlocks) = state.withLock { ($0.isReadable, $0.unlocks) }
        if isKnown { return false }
        let (file, marker) = (system.contents(of: .domain), system.contents(of: .marker))
        if let reason = file.lockedReason ?? marker.lockedReason {
            // An unlock that was announced after the count was taken need not be awaited.
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
    /// Usually each key of the file must be present. Values may differ, because `UserDefaults` may be newer than the
    /// file.
    ///
    /// If this process does not wait for an unlock, one equal entry is enough. The other entries may be missing because
    /// other code has removed them, and the daemon has not written the file since.
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

    /// Creates the marker if the domain has values now, and removes it if the domain is empty.
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
