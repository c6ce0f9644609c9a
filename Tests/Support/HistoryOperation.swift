import Foundation

/// One access to one key, as a process saw it: the operation, and the times before and after it.
package struct HistoryOperation: Sendable, Hashable, Codable {
    /// The kind of an operation. nil stands for the absent value. Each value is written once in a history.
    package enum Access: Sendable, Hashable, Codable {
        case read(Int?)
        case write(Int)
        /// Read and written in one transaction.
        case exchange(Int?, for: Int)
    }

    package let key: String
    package let access: Access
    /// Nanoseconds on the clock of `now`, before the call and after it has returned.
    package let begin, end: Int
    /// The process and thread, for example "2.1".
    package let thread: String
    /// The number of the call in its thread. One call may access several keys.
    package let call: Int
    package let manner: String

    /// Creates an operation. The operations of one key are a history.
    package init(
        _ key: String, _ access: Access, from begin: Int, to end: Int, thread: String = "", call: Int = 0,
        manner: String = ""
    ) {
        (self.key, self.access, self.begin, self.end) = (key, access, begin, end)
        (self.thread, self.call, self.manner) = (thread, call, manner)
    }

    /// The time of a clock that all processes share.
    package static func now() -> Int { Int(DispatchTime.now().uptimeNanoseconds) }

    /// The written value; nil for a read.
    package var written: Int? {
        switch access {
        case .read: nil
        case .write(let value), .exchange(_, let value): value
        }
    }

    /// Whether it returned before the other was called.
    package func precedes(_ other: HistoryOperation) -> Bool {
        end < other.begin
    }
}

extension HistoryOperation: LosslessStringConvertible {
    /// One line of JSON.
    package var description: String {
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Creates the operation that a line describes; nil if the line is malformed.
    package init?(_ line: String) {
        guard let operation = try? JSONDecoder().decode(Self.self, from: Data(line.utf8)) else { return nil }
        self = operation
    }
}
