/// A process that holds a lock.
package struct LockHolder: Sendable {
    package let pid: Int
    /// The name of the program; empty if it is unknown.
    package let name: String
    package let isStopped: Bool
    package let isOwn: Bool

    package init(pid: Int, name: String, isStopped: Bool, isOwn: Bool) {
        self.pid = pid
        self.name = name
        self.isStopped = isStopped
        self.isOwn = isOwn
    }

    /// `held by process 123 (sleepd), which is stopped`; the list is empty if the system does not name the holders.
    package static func text(of holders: [LockHolder]) -> String {
        if holders.isEmpty { return "held by another process" }
        let names = holders.map { "\($0.pid) (\($0.name))" + ($0.isStopped ? ", which is stopped" : "") }
        return "held by process \(names.joined(separator: ", and by "))"
    }
}
