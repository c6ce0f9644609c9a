import Foundation
import Testing

/// SwiftUI is imported by PrefsUI only: an import in one file of a module links it into every client.
@Suite struct ModuleImportTests {
    private static let sources = DocumentationPage.package.appending(path: "Sources")

    /// The files of a folder that import SwiftUI, test whether they can, or import a module that does.
    private func files(in folder: URL) throws -> (all: Int, importing: [String]) {
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let files = (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
        let importing = try files.filter {
            let text = try String(contentsOf: $0, encoding: .utf8)
            return text.contains(/\bimport\s+(\w+\s+)?(SwiftUI|PrefsUI)\b|canImport\(SwiftUI\)/)
        }
        return (files.count, importing.map(\.lastPathComponent).sorted())
    }

    @Test func onlyTheModuleForSwiftUIImportsIt() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
        for name in names where name != "PrefsUI" {
            #expect(try files(in: Self.sources.appending(path: name)).importing == [], "\(name)")
        }
        #expect(try files(in: Self.sources.appending(path: "PersistentPreferences")).all > 50)
        #expect(
            try files(in: Self.sources.appending(path: "PrefsUI")).importing
                == ["AppSetting+Apple.swift", "PrefHandle+Apple.swift"])
    }
}
