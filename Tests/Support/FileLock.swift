package import Foundation

/// Whether a writer of that file would have to wait. Takes the lock beside it if it is free, and releases it. True if
/// the lock file cannot be opened.
package func isLocked(_ file: URL) -> Bool {
    let sidecar = file.deletingLastPathComponent().path + "/." + file.lastPathComponent + ".lock"
    let descriptor = open(sidecar, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0
}
