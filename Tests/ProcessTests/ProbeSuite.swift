import EngineSupport
import Foundation
import TestSupport
import Testing

/// A suite whose tests run `Probe`, each in a home of its own.
class ProbeSuite {
    let home: TemporaryFolder
    /// A file that is no domain's.
    let file: URL
    /// The domain of `UserDefaults`.
    let domain: URL

    init() throws {
        home = try TemporaryFolder()
        file = home.file()
        domain = home.file(".config/Probe.plist")
    }

    var path: String { file.path }

    func probe(_ arguments: String...) throws -> Child.Result { try Child("Probe", arguments, home: home).wait() }

    /// Runs `Probe` with arguments, and expects that it succeeds and prints a text.
    func expect(_ output: String, of arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        let result = try Child("Probe", arguments, home: home).wait()
        #expect(result.output == output && result.code == 0, "\(result.errors)", sourceLocation: sourceLocation)
    }

    func piped(_ arguments: String...) throws -> PipedChild { try PipedChild("Probe", arguments, home: home) }

    func writeDomain(_ list: [String: Any], as format: PropertyListSerialization.PropertyListFormat = .xml) throws {
        try FileManager.default.createDirectory(at: home.file(".config"), withIntermediateDirectories: true)
        try writePropertyList(list, to: domain, as: format)
    }

    func names(in folder: String = ".config") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home.file(folder).path).sorted()
    }

    /// The values of the store in a file.
    func values(in file: URL) throws -> [String: Any] {
        try propertyList(at: file)["ProbePrefs"] as? [String: Any] ?? [:]
    }
}

extension Trait where Self == WaitingThreads {
    /// For suites that wait for processes.
    static var waits: Self { WaitingThreads() }
    /// For suites with `.serialized`, whose tests watch milliseconds.
    static var waitsOneByOne: Self { WaitingThreads(.oneByOne) }
}
