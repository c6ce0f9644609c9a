import Foundation
import TestSupport
import Testing

/// Runs the findings and the seeds of a fuzzer again.
struct CorpusReplay {
    private struct Input {
        let name: String
        let bytes: Data
    }

    private var inputs: [Input] = []

    mutating func add(_ kind: String, _ seeds: [Data]) {
        inputs += seeds.enumerated().map { Input(name: "\(kind) seed \($0)", bytes: $1) }
    }

    /// Adds the files of a folder among the resources of a test target.
    mutating func add(filesIn folder: String, of bundle: Bundle) throws {
        let url = try #require(bundle.resourceURL).appending(path: folder, directoryHint: .isDirectory)
        inputs += try FileManager.default.contentsOfDirectory(atPath: url.path).sorted().map { name in
            let file = url.appending(path: name, directoryHint: .notDirectory)
            return Input(name: "\(folder)/\(name)", bytes: try Data(contentsOf: file))
        }
    }

    /// Nothing crashes on a small stack, and every promise holds.
    func run(_ kind: String, _ check: @escaping (Data) throws -> Bool) {
        var accepted = 0
        var broken: [String] = []
        try? onSmallStack {
            for input in inputs {
                do {
                    if try check(input.bytes) { accepted += 1 }
                } catch {
                    broken.append("\(input.name): \(error)")
                }
            }
        }
        for failure in broken { Issue.record("\(failure)") }
        #expect(accepted > 0 && accepted < inputs.count)
        // A crash ends the process before this line is printed.
        Hazard.report("corpus: \(inputs.count) \(kind) replayed, \(accepted) accepted")
    }
}
