import Foundation
import TestSupport
import Testing

/// `Scripts/install.sh` with a program that is built already.
@Suite final class InstallTests: HarnessSuite {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Scripts/install.sh", directoryHint: .notDirectory)

    private func install(_ home: HarnessHome, _ arguments: String...) throws -> Printed {
        Printed(
            try Child(
                Self.script, ["--program", Child.executable("prefs").path] + arguments,
                environment: ["HOME": home.folder.path]
            ).wait())
    }

    private static let files = [
        "bin/prefs", "share/bash-completion/completions/prefs", "share/fish/vendor_completions.d/prefs.fish",
        "share/man/man1/prefs.1", "share/zsh/site-functions/_prefs",
    ]

    private func installed(_ folder: URL) -> [String] {
        let all = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return all.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder.path + "/" + name, isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    @Test func itInstallsIntoTheHomeAndUninstallsExactlyThat() throws {
        let local = home.folder.file(".local")
        for _ in 1...2 {
            let printed = try install(home)
            #expect(printed.code == 0 && printed.errors == "", "\(printed)")
            #expect(installed(local) == Self.files)
        }
        let result = try String(contentsOf: local.appending(path: "share/man/man1/prefs.1"), encoding: .utf8)
        #expect(try result == prefs("help", "--man").output)
        try Data().write(to: local.appending(path: "bin/other"))
        let removed = try install(home, "--uninstall")
        #expect(removed.code == 0 && removed.errors == "")
        #expect(installed(local) == ["bin/other"])
        #expect(try install(home, "--uninstall") == Printed())
    }

    @Test func thePrefixMayContainSpaces() throws {
        let prefix = home.path("a prefix")
        #expect(try install(home, "--prefix", prefix).code == 0)
        #expect(installed(URL(filePath: prefix)) == Self.files)
        #expect(try install(home, "--prefix", prefix, "--uninstall").code == 0)
        #expect(installed(URL(filePath: prefix)) == [])
    }

    @Test(arguments: [["--prefix"], ["--nope"], ["x"]]) func itRejectsWrongArguments(arguments: [String]) throws {
        let printed = Printed(try Child(Self.script, arguments, environment: ["HOME": home.folder.path]).wait())
        #expect(printed.code == 64 && printed.errors.hasPrefix("usage: Scripts/install.sh"))
        #expect(try home.folder.names() == [])
    }
}
