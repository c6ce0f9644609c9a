/// A process that holds a lock.
package struct LockHolder: Sendable {
    package let pid: Int
    /// The name of the program; empty if it is unknown.
    package let name: String
    /// Whether the process does nothing until somebody continues it, also because it is frozen.
    package let isStopped: Bool
    /// Whether a control group of the process is frozen. No signal continues it.
    package let isFrozen: Bool
    package let isOwn: Bool

    package init(pid: Int, name: String, isStopped: Bool, isFrozen: Bool = false, isOwn: Bool) {
        self.pid = pid
        self.name = name
        self.isStopped = isStopped || isFrozen
        self.isFrozen = isFrozen
        self.isOwn = isOwn
    }

    /// `held by process 123 (sleepd), which is stopped`; the list is empty if the system does not name the holders.
    package static func text(of holders: [LockHolder]) -> String {
        if holders.isEmpty { return "held by another process" }
        return "held by process \(holders.map(\.text).joined(separator: ", and by "))"
    }

    private var text: String {
        let state =
            isFrozen ? ", which is stopped because its control group is frozen" : isStopped ? ", which is stopped" : ""
        return "\(pid) (\(name))\(state)"
    }
}
