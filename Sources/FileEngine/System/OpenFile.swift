import Foundation
import PrefsPropertyLists

/// An open file. Its release closes the descriptor, if that still belongs to the file.
package final class OpenFile: Sendable {
    /// How long a descriptor is open.
    package enum Lifetime: Sendable {
        /// For one call of the engine. The program's code does not run in that time, so the descriptor is closed
        /// without a check.
        case call
        /// While the program's code runs. That code may close all descriptors, as daemons do, and reuse the number for
        /// another file. So the file is asked once more before it is closed.
        case kept
    }

    package let descriptor: SystemCalls.Descriptor
    private let system: SystemCalls
    /// The status when the file was opened; nil for the lifetime of a call.
    private let opened: FileStatus?
    /// What the release does with the descriptor.
    private enum Ending {
        case asksFirst
        case asksNothing
        /// The file is closed, or its number was found to belong to another file. A lost descriptor stays lost, because the
        /// file may be opened again under the same number.
        case over
    }

    nonisolated(unsafe) private var ending: Ending
    /// Guards `ending` of all files, because a lock for each file would cost each write an allocation.
    private static let lock = Lock()

    /// Takes over the descriptor, for one call.
    package convenience init(_ descriptor: SystemCalls.Descriptor, _ system: SystemCalls) {
        self.init(descriptor, system, .call, opened: nil)
    }

    /// Takes over the descriptor.
    ///
    /// - Parameter status: the status of the file.
    @inline(never) package init(
        _ descriptor: SystemCalls.Descriptor, _ system: SystemCalls, _ lifetime: Lifetime, opened status: FileStatus?
    ) {
        self.descriptor = descriptor
        self.system = system
        opened = lifetime == .call ? nil : status
        ending = opened == nil ? .asksNothing : .asksFirst
    }

    /// Whether the descriptor still belongs to this file.
    @inline(never) package var isIntact: Bool {
        if hasEnded { return false }
        guard let opened else { return true }
        if system.isStill(opened, descriptor) { return true }
        abandon()
        return false
    }

    /// Closes the file at once, and without a question: the program's code has not run since it was opened.
    func close() {
        let isFirst = Self.lock.withLock {
            defer { ending = .over }
            return ending != .over
        }
        if isFirst { system.close(descriptor) }
    }

    /// Closes the file without a question when it is released. The caller has found the descriptor intact, and releases it
    /// before the program's code runs again.
    func willEnd() {
        Self.lock.withLock { if ending == .asksFirst { ending = .asksNothing } }
    }

    /// Whether this is the file with that status. False if its own status is unknown.
    func wasOpened(as there: FileStatus) -> Bool { opened?.isSameFile(as: there) ?? false }

    /// Leaves the number to the program, which uses it for another file. Called before the file is opened again.
    package func abandon() {
        Self.lock.withLock { ending = .over }
    }

    /// Whether the file is closed, or was found to be lost.
    var hasEnded: Bool { Self.lock.withLock { ending == .over } }

    private var mayClose: Bool {
        switch Self.lock.withLock({ ending }) {
        case .asksFirst: isIntact
        case .asksNothing: true
        case .over: false
        }
    }

    /// Takes over the descriptor of a folder, a socket or a queue of the system that is open while the program's code
    /// runs.
    package static func kept(_ descriptor: SystemCalls.Descriptor, _ system: SystemCalls) -> OpenFile {
        OpenFile(descriptor, system, .kept, opened: try? system.status(of: descriptor))
    }

    /// Releases the lock on the file and closes it.
    ///
    /// - Parameter unlocks: false in a forked child, whose lock belongs to its parent.
    func end(unlocks: Bool) {
        guard mayClose else { return }
        abandon()
        // Unlocks before it closes, because a forked child may hold the descriptor, too. A close alone would leave the
        // lock to that child.
        if unlocks { system.unlock(descriptor) }
        system.close(descriptor)
    }

    deinit {
        if mayClose { system.close(descriptor) }
    }
}
