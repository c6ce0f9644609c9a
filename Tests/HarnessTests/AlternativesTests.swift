#if os(Linux)
    import Foundation
    import Testing

    /// Compares bare `UserDefaults` on Linux with `prefs`, as the README does.
    @Suite(.waits) final class AlternativesTests: HarnessSuite {
        private var file: URL { home.domainFile("Alternative") }

        private func stored() throws -> NSDictionary? {
            guard let data = FileManager.default.contents(atPath: file.path) else { return nil }
            return try PropertyListSerialization.propertyList(from: data, format: nil) as? NSDictionary
        }

        @Test func aUserDefaultsValueIsNotOnDiskAtExit() throws {
            #expect(try home.run("RawDefaults", ["set", "Alternative", "key", "value"]) == Printed())
            #expect(try stored() == nil, "the program has ended, and nothing is there")
            #expect(try prefs("set", "-f", "Alternative", "key", "value", "--force") == Printed())
            #expect(try stored() == ["key": "value"])
        }

        @Test func userDefaultsTrapsOnAnInvalidObject() throws {
            #expect(try home.run("RawDefaults", ["set-object", "Alternative", "key"]).wasKilled)
        }

        @Test func aDamagedFileIsTreatedAsEmptyAndOverwritten() throws {
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try home.write("bplist00 cut off", to: ".config/Alternative.plist")
            #expect(try home.run("RawDefaults", ["write", "Alternative", "new", "value"]) == Printed())
            #expect(try stored() == ["new": "value"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Alternative.plist"])
        }
    }
#endif
