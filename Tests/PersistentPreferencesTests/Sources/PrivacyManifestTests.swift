import Foundation
import Testing

/// `PrivacyInfo.xcprivacy` declares exactly the calls of the sources for which Apple requires a reason.
@Suite struct PrivacyManifestTests {
    private static let folders = ["PropertyLists", "FileEngine", "PersistentPreferences"]

    private func manifest() throws -> [String: Any] {
        let file = DocumentationPage.package.appending(path: "Sources/PersistentPreferences/PrivacyInfo.xcprivacy")
        let data = try Data(contentsOf: file)
        return try #require(PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    }

    /// The manifest names it only on a Mac, by its path in the target.
    @Test func thePackageNamesItsPath() throws {
        let package = try String(
            contentsOf: DocumentationPage.package.appending(path: "Package.swift"), encoding: .utf8)
        let resources = package.matches(of: /\.copy\("(.*xcprivacy)"\)/).map { String($0.output.1) }
        #expect(resources == ["PrivacyInfo.xcprivacy"])
    }

    @Test func nothingIsTrackedOrCollected() throws {
        let manifest = try manifest()
        #expect(manifest.count == 4)
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.count == 0)
        #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.count == 0)
    }

    @Test func theCategoriesAreThoseOfTheSources() throws {
        let categories = [
            ("UserDefaults", ["CA92.1", "1C8F.1"], ["UserDefaults(", "UserDefaults.standard"]),
            (
                "FileTimestamp", ["C617.1", "3B52.1"],
                ["stat(", "getattrlist", "attributesOfItem", "odificationDate", "creationDate"]
            ),
            ("SystemBootTime", [], ["systemUptime", "mach_absolute_time"]),
            ("DiskSpace", [], ["statfs(", "statvfs(", "volumeAvailableCapacity", "systemFreeSize"]),
            ("ActiveKeyboards", [], ["activeInputModes"]),
        ]
        let sources = try Self.folders.flatMap { DocumentationPage.swiftFiles(in: "Sources/\($0)") }
            .filter { !$0.lastPathComponent.hasSuffix("+Linux.swift") }
            .map { try String(contentsOf: $0, encoding: .utf8) }
        try #require(sources.count > 100)

        let declared = try #require(manifest()["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        for (category, reasons, calls) in categories {
            let isUsed = calls.contains { call in sources.contains { $0.contains(call) } }
            let entry = declared.first {
                $0["NSPrivacyAccessedAPIType"] as? String == "NSPrivacyAccessedAPICategory\(category)"
            }
            #expect(isUsed == (entry != nil), "\(category)")
            #expect((entry?["NSPrivacyAccessedAPITypeReasons"] as? [String] ?? []) == reasons, "\(category)")
        }
        #expect(declared.count == 2)
    }
}
