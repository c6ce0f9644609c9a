import Foundation
import Testing

/// SwiftUI is imported by PrefsUI only: an import in one file of a module links it into every client.
@Suite struct ModuleImportTests {
    /// The files of a folder that import SwiftUI, test whether they can, or import a module that does.
    private func files(in module: String) throws -> (all: Int, importing: [String]) {
        let files = DocumentationPage.swiftFiles(in: "Sources/\(module)")
        let importing = try files.filter {
            let text = try String(contentsOf: $0, encoding: .utf8)
            return text.contains(/\bimport\s+(\w+\s+)?(SwiftUI|PrefsUI)\b|canImport\(SwiftUI\)/)
        }
        return (files.count, importing.map(\.lastPathComponent).sorted())
    }

    @Test func onlyTheModuleForSwiftUIImportsIt() throws {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: DocumentationPage.package.appending(path: "Sources").path)
        for name in names where name != "PrefsUI" { #expect(try files(in: name).importing == [], "\(name)") }
        #expect(try files(in: "PersistentPreferences").all > 50)
        #expect(try files(in: "PrefsUI").importing == ["AppSetting+Apple.swift", "PrefHandle+Apple.swift"])
    }
}
