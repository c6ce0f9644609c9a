import Foundation
import TestSupport
import Testing

/// What the fuzzers have found, and what they begin with, once more: nothing of it crashes, and every promise holds.
@Suite struct CorpusTests {
    private struct Input {
        let name: String
        let bytes: Data
        let check: (Data) throws -> Bool
    }

    /// As small as the stack of a second thread on Apple platforms; sanitizers make larger frames.
    private static let stackSize = Hazard.count("PREFS_STACK", default: 512) << 10

    @Test func everyInputIsSurvived() throws {
        let damaged = try Self.files(in: "Damaged", BytesCheck.run)
        #expect(damaged.count == 10)
        let inputs =
            try damaged + Self.files(in: "Corpus/bytes", BytesCheck.run)
            + Self.files(in: "Corpus/values", ValueCheck.run)
            + Self.numbered("bytes", FuzzSeeds.bytes(), BytesCheck.run)
            + Self.numbered("values", FuzzSeeds.choices(), ValueCheck.run)
        let (accepted, broken) = Self.replay(inputs)
        for failure in broken { Issue.record("\(failure)") }
        #expect(accepted > 0 && accepted < inputs.count)
        // A crash ends the process before this: there is no line then.
        Hazard.report(
            "corpus: \(inputs.count) inputs replayed, \(accepted) accepted, \(broken.count) promises broken")
    }

    private static func replay(_ inputs: [Input]) -> (accepted: Int, broken: [String]) {
        nonisolated(unsafe) let inputs = inputs
        nonisolated(unsafe) var accepted = 0
        nonisolated(unsafe) var broken: [String] = []
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            for input in inputs {
                do {
                    if try input.check(input.bytes) { accepted += 1 }
                } catch {
                    broken.append("\(input.name): \(error)")
                }
            }
            done.signal()
        }
        thread.stackSize = stackSize
        thread.start()
        done.wait()
        return (accepted, broken)
    }

    private static func files(in folder: String, _ check: @escaping (Data) throws -> Bool) throws -> [Input] {
        let url = try #require(Bundle.module.resourceURL).appending(path: folder, directoryHint: .isDirectory)
        return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted().map { name in
            let file = url.appending(path: name, directoryHint: .notDirectory)
            return Input(name: "\(folder)/\(name)", bytes: try Data(contentsOf: file), check: check)
        }
    }

    private static func numbered(
        _ kind: String, _ seeds: [Data], _ check: @escaping (Data) throws -> Bool
    ) -> [Input] {
        seeds.enumerated().map { Input(name: "\(kind) seed \($0)", bytes: $1, check: check) }
    }
}
