import Foundation
import TestSupport
import Testing

/// `Scripts/install.sh` with a program that is built already.
@Suite(.waits) final class InstallTests: HarnessSuite {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Scripts/install.sh", directoryHint: .notDirectory)

    private func install(_ arguments: String...) throws -> Printed {
        let words = ["--program", try Child.executable("prefs").path] + arguments
        return Printed(try Child(Self.script, words, environment: ["HOME": home.folder.path]).wait())
    }

    private static let files = [
        "bin/prefs", "share/bash-completion/completions/prefs", "share/fish/vendor_completions.d/prefs.fish",
        "share/man/man1/prefs.1", "share/zsh/site-functions/_prefs",
    ]

    /// The files in a folder of the home.
    private func installed(_ folder: String) throws -> [String] {
        try home.bash("cd '\(folder)' && find . -type f").output.split(separator: "\n").map { String($0.dropFirst(2)) }
            .sorted()
    }

    @Test func itInstallsIntoTheHomeAndUninstallsExactlyThat() throws {
        let local = home.folder.file(".local")
        for _ in 1...2 {
            let printed = try install()
            #expect(printed.code == 0 && printed.errors == "", "\(printed)")
            #expect(try installed(".local") == Self.files)
        }
        let result = try String(contentsOf: local.appending(path: "share/man/man1/prefs.1"), encoding: .utf8)
        #expect(try result == prefs("help", "--man").output)
        try Data().write(to: local.appending(path: "bin/other"))
        let removed = try install("--uninstall")
        #expect(removed.code == 0 && removed.errors == "")
        #expect(try installed(".local") == ["bin/other"])
        #expect(try install("--uninstall") == Printed())
    }

    @Test func thePrefixMayContainSpaces() throws {
        let prefix = home.path("a prefix")
        #expect(try install("--prefix", prefix).code == 0)
        #expect(try installed("a prefix") == Self.files)
        #expect(try install("--prefix", prefix, "--uninstall").code == 0)
        #expect(try installed("a prefix") == [])
    }

    @Test(arguments: [["--prefix"], ["--nope"], ["x"]]) func itRejectsWrongArguments(arguments: [String]) throws {
        let printed = Printed(try Child(Self.script, arguments, environment: ["HOME": home.folder.path]).wait())
        #expect(printed.code == 64 && printed.errors.hasPrefix("usage: Scripts/install.sh"))
        #expect(try home.folder.names() == [])
    }
}
