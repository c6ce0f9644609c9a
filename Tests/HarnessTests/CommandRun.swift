import Foundation
import HarnessCLI
import PrefsTool
import TestSupport

/// A run of `prefs` in the process of the tests, with an environment and standard streams of its own.
struct CommandRun {
    let environment: [String: String]

    func run(_ arguments: [String]) throws -> Printed {
        let (input, output, errors) = (try Stream(reading: "/dev/null"), try Stream(), try Stream())
        let context = ProcessContext(
            executable: try Child.executable("prefs").path, environment: environment, input: input.descriptor,
            output: output.descriptor, errors: errors.descriptor)
        let code = PrefsProgram.run(arguments, in: context)
        return Printed(try output.text(), errors: try errors.text(), code: code)
    }

    private final class Stream {
        let descriptor: Int32

        /// A file without a name, which no process started by another test inherits.
        init() throws {
            let path = NSTemporaryDirectory() + "prefs-\(UUID().uuidString)"
            descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
            unlink(path)
        }

        init(reading path: String) throws {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw CocoaError(.fileReadUnknown) }
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
