import Foundation
import PrefsDefaultsDomain

/// A model of the daemon that keeps one domain of `UserDefaults` for every process of a device (`cfprefsd`).
///
/// - Assumption: A change reaches the daemon after `set` has returned, and other processes later still.
///   Source: UserDefaults, "asynchronously"; CFPreferences in the sources of CF.
/// - Assumption: Each process sees the changes of all processes in the order in which the daemon took them.
///   Source: undocumented; each process has one connection to one daemon.
/// - Assumption: The daemon merges changes by key: a process that sets one key does not change the others.
///   Source: UserDefaults, `set(_:forKey:)`.
/// - Assumption: Before the first unlock after a restart the domain reads as empty, and a value that is set replaces the file.
///   Source: undocumented; openradar 16761393, LoopKit/Loop#1170, PostHog/posthog-ios#213.
/// - Assumption: Before the first unlock the file exists and cannot be opened.
///   Source: Apple Platform Security, "Data Protection classes", class C.
/// - Assumption: Once protected data is available, a process that has read the empty domain can read the values.
///   Source: undocumented; LoopKit/Loop#1170.
/// - Assumption: A process without UIKit is not notified that protected data is available.
///   Source: UIKit, `protectedDataDidBecomeAvailableNotification`.
package final class ModelDaemon: @unchecked Sendable {
    typealias Change = (key: String, value: Any?)

    private let lock = NSLock()
    private let queue = DispatchQueue(label: "AppleModels.ModelDaemon")
    private let isAutomatic: Bool
    // Under the lock.
    private var entries: [String: Any] = [:]
    private var file: [String: Any]?
    private var isFileBehind = false
    private var marker = false
    private var isUnlocked = true
    private var isLoaded = true
    private var processes: [ModelDefaults] = []
    private var inbox: [(sender: ModelDefaults, change: Change)] = []

    /// Whether the domain's file is written when changes arrive. If false, ``writeFile()`` writes it.
    package var writesFileAtOnce = true
    /// Why files cannot be opened at all, for a test.
    package var failure: String?

    /// - Parameter isAutomatic: whether messages are delivered automatically, on a queue of the model. If false,
    ///   ``deliver()`` delivers them.
    package init(isAutomatic: Bool = false) {
        self.isAutomatic = isAutomatic
    }

    /// Another process that uses the domain.
    package func process() -> ModelDefaults {
        let process = ModelDefaults(self)
        lock.withLock { processes.append(process) }
        return process
    }

    // MARK: - Messages

    /// Delivers all messages.
    package func deliver() {
        while deliverOne() {}
    }

    private func deliverOne() -> Bool {
        let next: (sender: ModelDefaults, change: Change, others: [ModelDefaults])? = lock.withLock {
            guard !inbox.isEmpty else { return nil }
            let (sender, change) = inbox.removeFirst()
            entries[change.key] = change.value
            isFileBehind = true
            if writesFileAtOnce { writeFileUnderLock() }
            return (sender, change, processes.filter { $0 !== sender })
        }
        guard let (sender, change, others) = next else { return false }
        sender.acknowledge(change)
        others.forEach { $0.receive(change) }
        return true
    }

    func send(_ change: Change, from sender: ModelDefaults) {
        lock.withLock { inbox.append((sender, change)) }
        if isAutomatic { queue.async { self.deliver() } }
    }

    /// Returns once the model's own queue has delivered the messages that were sent before.
    package func settle() {
        queue.sync { self.deliver() }
    }

    // MARK: - The device

    /// The entries that a process gets when it asks for the domain.
    var current: [String: Any] {
        lock.withLock { entries }
    }

    /// Restarts the device: every process ends, and nothing can be read before the first unlock.
    package func restart() {
        lock.withLock {
            writeFileUnderLock()
            (isUnlocked, isLoaded, entries, processes, inbox) = (false, false, [:], [], [])
        }
    }

    /// The first unlock. Values that were set before it have replaced the file.
    ///
    /// - Parameter loads: whether the daemon reads the file at once. If false, ``load()`` makes it read the file.
    package func unlock(loads: Bool = true) {
        lock.withLock { isUnlocked = true }
        if loads { load() }
    }

    /// Makes the daemon read the file and notify the processes.
    package func load() {
        let processes = lock.withLock {
            if !isLoaded {
                isLoaded = true
                if isFileBehind { writeFileUnderLock() } else { entries = file ?? [:] }
            }
            return self.processes
        }
        processes.forEach { $0.reload() }
    }

    /// Removes the domain as other code does: `removePersistentDomain(forName:)`.
    package func removeDomain(removesFile: Bool = true) {
        lock.withLock {
            entries = [:]
            file = removesFile ? nil : [:]
        }
        lock.withLock { processes }.forEach { $0.reload() }
    }

    package func writeFile() {
        lock.withLock { writeFileUnderLock() }
    }

    private func writeFileUnderLock() {
        guard isFileBehind, isUnlocked else { return }
        file = entries
        isFileBehind = false
    }

    /// The entries of the file, even if it cannot be opened.
    package var storedFile: [String: Any]? { lock.withLock { file } }

    package var hasMarker: Bool {
        get { lock.withLock { marker } }
        set { lock.withLock { marker = newValue } }
    }

    func contents(of protected: ProtectedFile) -> ProtectedContents {
        if let failure { return .unreadable(failure) }
        return lock.withLock {
            switch protected {
            case .domain:
                guard let file else { return .missing }
                guard isUnlocked else { return .locked }
                let data = try? PropertyListSerialization.data(fromPropertyList: file, format: .binary, options: 0)
                return .bytes(Array(data ?? Data()))
            case .marker:
                guard marker else { return .missing }
                return isUnlocked ? .bytes([]) : .locked
            }
        }
    }
}
