import Foundation
import HarnessCLI
import TestSupport

@testable import PrefsTool

/// A run of `prefs` in the process of the tests, with its own environment and standard streams.
struct CommandRun {
    let environment: [String: String]

    func run(_ arguments: [String]) throws -> Printed {
        try run { PrefsProgram.run(arguments, in: $0) }
    }

    /// - Parameter input: the contents of the standard input.
    func run(_ arguments: [String], of program: Program, input: String = "") throws -> Printed {
        try run(input: input) { context in
            var program = program
            program.context = context
            return PrefsTool.run(arguments, of: program)
        }
    }

    private func run(input text: String = "", _ body: (ProcessContext) -> Int32) throws -> Printed {
        let (input, output, errors) = (try Stream(text), try Stream(), try Stream())
        let context = ProcessContext(
            executable: try Child.executable("prefs").path, environment: environment, input: input.descriptor,
            output: output.descriptor, errors: errors.descriptor)
        let code = body(context)
        return Printed(try output.text(), errors: try errors.text(), code: code)
    }

    private final class Stream {
        let descriptor: Int32

        /// A file without a name, which no process started by another test inherits.
        init(_ text: String = "") throws {
            let path = TemporaryFolder.usualParent.path + "/prefs-\(UUID().uuidString)"
            descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
            unlink(path)
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: Data(text.utf8))
            lseek(descriptor, 0, SEEK_SET)
        }

        deinit { close(descriptor) }

        /// What was written to the file.
        func text() throws -> String {
            lseek(descriptor, 0, SEEK_SET)
            let bytes = try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd() ?? Data()
            guard let text = String(data: bytes, encoding: .utf8) else {
                throw CocoaError(.fileReadInapplicableStringEncoding)
            }
            return text
        }
    }
}
