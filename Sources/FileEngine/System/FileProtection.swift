/// The data protection classes of iOS, watchOS and visionOS: when a file can be opened.
///
/// ```swift
/// let store = PrefsStore.propertyList(url: url, protection: .noProtection)
/// ```
///
/// On macOS and Linux a class has no effect. The cases have the names of `FileProtectionType` in Foundation, except
/// ``noProtection``, because `none` could be mistaken for a nil `FileProtection?`.
public enum FileProtection: Sendable, Hashable {
    /// Only while the device is unlocked.
    case complete
    /// While the device is locked, the file cannot be opened. If it is open already, it stays readable and writable.
    case completeUnlessOpen
    /// From the first unlock after a restart of the device. The system's default.
    case completeUntilFirstUnlock
    /// Always: for programs that have to read before the first unlock. The file is encrypted with the device's key
    /// alone.
    case noProtection

    /// The number of the class for `F_SETPROTECTIONCLASS` (sys/fcntl.h).
    package var number: Int32 {
        switch self {
        case .complete: 1
        case .completeUnlessOpen: 2
        case .completeUntilFirstUnlock: 3
        case .noProtection: 4
        }
    }
}
