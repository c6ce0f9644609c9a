import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// One object of each file, and nothing of those that are released.
@Suite struct FileRegistryTests {
    private let registry = FileRegistry()

    private func file(_ path: String) -> PropertyListFile { registry.file(at: path, system: .real) }

    @Test func eachPathHasOneObject() {
        let paths = (0..<100).map { "/folder/\($0)" } + ["/\u{e9}", "/e\u{301}"]
        let files = paths.map(file)
        #expect(Set(files.map(ObjectIdentifier.init)).count == paths.count)
        #expect(paths.map { ObjectIdentifier(file($0)) } == files.map(ObjectIdentifier.init))
        #expect(registry.count == paths.count)
    }

    /// Two views of a file treat each other as two processes do, and so do two systems. Each is found again.
    @Test func viewsOfAPathAreObjectsOfTheirOwn() {
        let system = RecordingSystemCalls()
        func views() -> [PropertyListFile] {
            [
                file("/f"), registry.file(at: "/f", holds: .document, system: .real),
                registry.file(at: "/f", system: system), registry.file(at: "/f", holds: .document, system: system),
            ]
        }
        let first = views()
        #expect(Set(first.map(ObjectIdentifier.init)).count == 4)
        #expect(views().map(ObjectIdentifier.init) == first.map(ObjectIdentifier.init))
        #expect(registry.entries(of: "/f") == 4)
    }

    @Test func releasedFilesLeaveNothing() {
        let kept = file("/kept"), view = registry.file(at: "/kept", holds: .document, system: .real)
        for number in 0..<1_000 { _ = file("/released/\(number)") }
        #expect(registry.count <= 18)
        for _ in 0..<1_000 { _ = file("/again") }
        #expect(registry.entries(of: "/again") == 1)
        #expect(file("/kept") === kept)
        #expect(registry.file(at: "/kept", holds: .document, system: .real) === view)
    }
}
