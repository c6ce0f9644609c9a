/// One access to one key, as a process saw it: the operation, and the times before and after it.
package struct HistoryOperation: Sendable, Equatable {
    /// The kind of an operation. nil stands for the absent value. Each value is written once in a history.
    package enum Access: Sendable, Equatable {
        case read(Int?)
        case write(Int)
        /// Read and written in one transaction.
        case exchange(Int?, for: Int)
    }

    /// The key.
    package var key: String
    /// The kind of the operation.
    package var access: Access
    /// Nanoseconds on a clock that all processes share, taken before the call.
    package var begin: Int
    /// Nanoseconds on that clock, taken after the call has returned.
    package var end: Int
    /// The process and thread, for example "2.1".
    package var thread: String
    /// The number of the call in its thread. One call may access several keys.
    package var call: Int
    /// The manner of the access.
    package var manner: String

    /// Creates an operation. The operations of one key are a history.
    package init(
        _ key: String, _ access: Access, from begin: Int, to end: Int, thread: String = "", call: Int = 0,
        manner: String = ""
    ) {
        self.key = key
        self.access = access
        self.begin = begin
        self.end = end
        self.thread = thread
        self.call = call
        self.manner = manner
    }

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
    /// One line with all properties.
    package var description: String {
        let words: [String] =
            switch access {
            case .read(let value): ["read", Self.word(value), "-"]
            case .write(let value): ["write", "-", "\(value)"]
            case .exchange(let old, let new): ["exchange", Self.word(old), "\(new)"]
            }
        return ([thread, "\(call)", manner, key] + words + ["\(begin)", "\(end)"]).joined(separator: " ")
    }

    /// Creates the operation that a line describes; nil if the line is malformed.
    package init?(_ line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 9, let call = Int(words[1]), let begin = Int(words[7]), let end = Int(words[8]) else {
            return nil
        }
        let old = Int(words[5]), new = Int(words[6])
        switch (words[4], new) {
        case ("read", nil): access = .read(old)
        case ("write", let new?): access = .write(new)
        case ("exchange", let new?): access = .exchange(old, for: new)
        default: return nil
        }
        (thread, self.call, manner, key, self.begin, self.end) = (words[0], call, words[2], words[3], begin, end)
    }

    private static func word(_ value: Int?) -> String {
        value.map(String.init) ?? "-"
    }
}
