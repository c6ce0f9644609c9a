package import Foundation

/// Whether a writer of that file would have to wait: takes the lock beside it if that can be had now, and gives it back.
/// Also where there is no lock that could be taken.
package func isLocked(_ file: URL) -> Bool {
    let sidecar = file.deletingLastPathComponent().path + "/." + file.lastPathComponent + ".lock"
    let descriptor = open(sidecar, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0
}
