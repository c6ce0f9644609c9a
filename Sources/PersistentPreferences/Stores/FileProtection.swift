/// When the system lets a file be opened: the data protection classes of iOS, watchOS and visionOS.
///
/// Elsewhere a class has no effect. The raw values are those of `F_SETPROTECTIONCLASS` (sys/fcntl.h); the cases are those of
/// `FileProtectionType` in Foundation, whose `none` would mean nil where a class is optional.
public enum FileProtection: Int32, Sendable, Hashable {
    /// Only while the device is unlocked.
    case complete = 1
    /// A file that is open stays open when the device is locked; it cannot be opened then.
    case completeUnlessOpen = 2
    /// From the first unlock after a start on. The system's default.
    case completeUntilFirstUnlock = 3
    /// Always: for programs that have to read before the first unlock. The file is encrypted by the device's key alone.
    case noProtection = 4
}
