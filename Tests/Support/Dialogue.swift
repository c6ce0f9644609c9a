import Foundation

/// A program of this package that answers each line with a line, as long as the object lives.
package final class Dialogue {
    private let process = Process()
    private let questions = Pipe()
    private let answers = Pipe()
    private var unread = Data()

    /// Starts a product of this package with a home of its own.
    package init(_ product: String, _ arguments: [String], home: TemporaryFolder) throws {
        process.executableURL = try Child.executable(product)
        process.arguments = arguments
        process.environment = Child.surroundings.merging(["HOME": home.path]) { $1 }
        process.standardInput = questions
        process.standardOutput = answers
        try process.run()
    }

    deinit {
        try? questions.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Writes a line and waits for the answer; empty where the program has ended.
    package func ask(_ question: String) throws -> String {
        try questions.fileHandleForWriting.write(contentsOf: Data((question + "\n").utf8))
        return answer()
    }

    /// Waits for a line that the program writes unasked, or after a question that was asked already; empty where it has
    /// ended.
    package func answer() -> String {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread = Data(unread[(end + 1)...]) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let more = answers.fileHandleForReading.availableData
            guard !more.isEmpty else { return "" }
            unread += more
        }
    }
}
