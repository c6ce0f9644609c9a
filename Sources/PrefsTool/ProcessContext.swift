import Foundation

/// The parts of the process that a run uses: the word that it was called by, the environment and the standard streams.
package struct ProcessContext: Sendable {
    /// The context of this process.
    package static let process = ProcessContext()

    /// The program as it was called; nil if that is not valid UTF-8.
    let executable: String?
    /// The descriptors of the standard streams.
    let input: Int32
    let output: Int32
    package let errors: Int32
    /// The environment; nil for the environment of this process.
    let variables: [String: String]?

    private init() {
        executable = CommandLine.unsafeArgv[0].flatMap { String(validatingCString: $0) }
        (input, output, errors) = (STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO)
        variables = nil
    }

    /// Creates the context of a run in a process that does other things, too. Paths are relative to the working folder
    /// of the process.
    package init(executable: String, environment: [String: String], input: Int32, output: Int32, errors: Int32) {
        self.executable = executable
        (self.input, self.output, self.errors) = (input, output, errors)
        variables = environment
    }

    var environment: [String: String] { variables ?? ProcessInfo.processInfo.environment }

    /// One variable, without the others: most commands need one or two.
    func variable(_ name: String) -> String? {
        variables.map { $0[name] } ?? getenv(name).map { String(cString: $0) }
    }

    package var outputStyle: Style { Style(of: output, in: environment) }
    var errorStyle: Style { Style(of: errors, in: environment) }
    var outputWidth: Int? { TerminalWidth.of(output) }

    // MARK: - Streams

    func writeOutput(_ bytes: Data) throws(OutputError) { try Self.write(bytes, to: output) }

    /// Ignores errors, because nothing is left to report them on.
    package func writeError(_ text: String) { try? Self.write(Data(text.utf8), to: errors) }

    /// Why an output cannot be written.
    struct OutputError: Error, CustomStringConvertible {
        let code: Int32
        var description: String { "standard output: \(String(cString: strerror(code)))" }
    }

    private static func write(_ bytes: Data, to descriptor: Int32) throws(OutputError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { throw OutputError(code: errno) }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// Reads a line of a terminal, whose driver edits lines and returns one at a time.
    ///
    /// - Returns: nil at the end of the input.
    /// - Throws: `CommandError` if the line is not UTF-8, which `Swift.readLine` would repair.
    func readLine() throws -> String? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var count = read(input, &bytes, bytes.count)
        while count < 0, errno == EINTR { count = read(input, &bytes, bytes.count) }
        guard count > 0 else { return nil }
        guard let text = String(data: Data(bytes.prefix(count)), encoding: .utf8) else {
            throw CommandError("expected a line in UTF-8, found other bytes")
        }
        return text.utf8.last == UInt8(ascii: "\n") ? String(text.unicodeScalars.dropLast()) : text
    }
}
