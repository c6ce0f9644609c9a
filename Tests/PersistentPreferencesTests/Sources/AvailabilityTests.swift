@testable import PrefsSupport
import Foundation
import Testing

/// `Scripts/availability.sh` finds symbols that are newer than the deployment targets, in a copy of a part of the
/// package.
@Suite(.enabled(if: Compiler.canRun))
struct AvailabilityTests {
    private static let script = DocumentationPage.package.appending(path: "Scripts/availability.sh")
    private static let copied = ["Text/Text.swift", "Text/UTCTime.swift"]

    private let folder = TemporaryFolder.fresh

    private var environment: [String: String] {
        ["HOME": folder.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
    }

    /// Compiles the copy together with a further file for each code: `Added0.swift` and so on. One compilation for all
    /// of them, because each takes a second.
    ///
    /// - Returns: the output of the script; nil if the toolchain lacks a tool that it needs.
    private func report(on added: [String]) throws -> Child.Result? {
        let sources = folder.file("Sources")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        for file in Self.copied {
            let name = file.split(separator: "/").last.map(String.init) ?? file
            try FileManager.default.copyItem(
                at: DocumentationPage.package.appending(path: "Sources/PropertyLists/\(file)"),
                to: sources.appending(path: name))
        }
        for (number, code) in added.enumerated() {
            try Data(code.utf8).write(to: sources.appending(path: "Added\(number).swift"))
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: sources.path).sorted()
            .map { sources.appending(path: $0).path }
        let units = folder.file("units"), index = folder.file("index")
        try Data(files.joined(separator: "\n").utf8).write(to: units)
        let compiler = try #require(Compiler.program)
        let compiled = try Child(
            compiler,
            [
                "-frontend", "-typecheck", "-swift-version", "6", "-package-name", "copy", "-module-name", "Copy",
                "-module-cache-path", Compiler.moduleCache ?? folder.file("modules").path, "-index-store-path",
                index.path,
                "-index-unit-output-path-filelist", units.path,
            ] + files, environment: environment
        ).wait()
        try #require(compiled.code == 0, "\(compiled.errors)")
        let result = try Child(Self.script, ["--sources", folder.path, index.path], environment: environment).wait()
        return Hazard.canRun("availability", if: !result.output.contains("skipped"), else: result.output) ? result : nil
    }

    @Test func nothingIsTooNew() throws {
        let added = [
            "",
            "let text = String(validUTF8: [0x61])",
            "@available(macOS 13, *) func wait() async throws { try await Task.sleep(for: .seconds(1)) }",
            // A newer requirement, which an older default implementation meets.
            "func product(_ left: UInt64, _ right: UInt64) -> UInt64 { left &* right }",
            "#if os(Linux)\n    #if DEBUG\n    #endif\n    let wide: Int128 = 0\n#else\n#endif\n",
        ]
        guard let result = try report(on: added) else { return }
        #expect(result.code == 0, "\(result.output)\(result.errors)")
        #expect(result.output.hasPrefix("availability: \(Self.copied.count + added.count) files use "))
        #expect(result.output.hasSuffix(", visionOS 1: 0\n"))
        // And a file that is not in the index is an error.
        try Data("let one = 1\n".utf8).write(to: folder.file("Sources/Unbuilt.swift"))
        let again = try Child(
            Self.script, ["--sources", folder.path, folder.file("index").path], environment: environment
        ).wait()
        #expect(again.code == 2)
        #expect(again.errors.hasSuffix("not in the index, build with swift build --build-tests: Unbuilt.swift\n"))
    }

    @Test func aSymbolThatIsTooNewIsFound() throws {
        let added = [
            (
                "\nlet text = String(validating: [0x61 as UInt8], as: UTF8.self)\n",
                "String.init(validating:as:) of Swift", 2
            ),
            ("#if os(Linux)\n#endif\nlet wide: Int128 = 0\n", "Int128 of Swift", 3),
            ("extension UTCTime { var wide: UInt128 { 0 } }", "UInt128 of Swift", 1),
            ("import Synchronization\nlet count = Atomic(0)\n", "Atomic of Synchronization", 2),
            (
                "import Foundation\n\nlet all = Locale.preferredLocales\n",
                "Locale.preferredLocales of FoundationEssentials", 3
            ),
            // The default implementation of next() is newer than next().
            (
                "struct Ones: AsyncIteratorProtocol {\n"
                    + "    func next(isolation: isolated (any Actor)?) async -> Int? { 1 }\n}\n",
                "AsyncIteratorProtocol.next() of _Concurrency", 1
            ),
        ]
        guard let result = try report(on: added.map(\.0)) else { return }
        #expect(result.code == 1, "\(result.output)\(result.errors)")
        let lines = result.output.components(separatedBy: "\n")
        for (number, (_, symbol, line)) in added.enumerated() {
            let finding = "\(symbol) needs macOS 15, iOS 18, tvOS 18, watchOS 11"
            let start = lines.firstIndex { $0.hasPrefix(finding) }
            #expect(
                start.map { lines[$0 + 1] } == "    Sources/Added\(number).swift:\(line)", "\(symbol): \(result.output)"
            )
        }
        #expect(!result.output.hasSuffix(", visionOS 1: 0\n"))
    }
}
