import Foundation
import PrefsStoreKit
import TestSupport
import Testing

/// The store over the domain of UserDefaults, always in children: UserDefaults captures HOME when a process starts.
@Suite(.waits) final class DefaultStoreTests: ProbeSuite {
    @Test(arguments: StoreCheck.all + StoreCheck.observing)
    func passesTheStoreContract(_ check: StoreCheck) throws {
        try expect("passed\n", of: "conformance", check.id, "\(Hazard.count(25, long: 100))")
    }

    @Test func agreesWithUserDefaults() throws {
        try expect("done\n", of: "agreement", "-Argued", "text")
    }

    @Test func theIncrementsOfFourProcessesAddUp() throws {
        let increments = Hazard.count(60, long: 250)
        let children = try (0..<4).map { _ in try Child("Probe", ["increment", "\(increments)"], home: home) }
        for child in children { #expect(try child.wait().code == 0) }
        #expect(try values(in: domain)["count"] as? Int == 4 * increments)
    }

    @Test func aReaderProcessSeesEachAcknowledgedWrite() throws {
        let writer = try piped("serve")
        let reader = try piped("serve")
        for number in 1...200 {
            #expect(try writer.ask("set \(number)") == "ok")
            #expect(try reader.ask("get") == "\(number)")
        }
    }

    @Test func usesTheFileThatUserDefaultsUses() throws {
        let config = try TemporaryFolder()
        let cases: [([String: String], TemporaryFolder, String)] = [
            (["HOME": home.path], home, ".config/Probe.plist"),
            (["HOME": home.path, "XDG_CONFIG_HOME": "relative"], home, ".config/Probe.plist"),
            (["HOME": home.path, "XDG_CONFIG_HOME": config.path], config, "Probe.plist"),
            (["HOME": home.path + "//"], home, ".config/Probe.plist"),
            (["HOME": home.path, "XDG_CONFIG_HOME": "/" + config.path + "//./"], config, "Probe.plist"),
        ]
        // The process may change its variables before its first access.
        for (environment, folder, name) in cases {
            for word in ["report", "report-elsewhere"] {
                let result = try Child("Probe", [word], environment: environment).wait()
                #expect(result.output == "init: ok\nwrite: ok\nread: 1 ok\n", "\(word) \(environment)")
                #expect(FileManager.default.fileExists(atPath: folder.file(name).path))
                // Removes the last good copy, too, which a write would keep.
                for name in try folder.names() { try FileManager.default.removeItem(at: folder.file(name)) }
            }
        }
    }

    #if os(Linux)
        /// Its executable is the loader (ld.so(8)).
        @Test(
            .enabled(
                if: Hazard.canRun(
                    "a program that the loader starts", if: loader != nil, else: "no loader of this system")))
        func aProgramThatTheLoaderStartsHasItsOwnFile() throws {
            let loader = URL(filePath: try #require(Self.loader))
            let (probe, environment) = (try Child.executable("Probe"), ["HOME": home.path])
            try FileManager.default.createSymbolicLink(at: home.file("linked"), withDestinationURL: probe)
            for (count, path) in [probe.path, home.file("linked").path].enumerated() {
                let result = try Child(loader, [path, "count-more"], environment: environment).wait()
                #expect(result.output == "\(count + 1)\n", "\(result)")
            }
            #expect(try Child("Probe", ["count-more"], environment: environment).wait().output == "3\n")
            let files = try FileManager.default.contentsOfDirectory(atPath: home.file(".config").path)
            #expect(files.filter { !$0.hasPrefix(".") } == ["Probe.plist"])
        }

        private static let loader = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].first {
            FileManager.default.fileExists(atPath: $0)
        }
    #endif

    @Test func everyAccessSaysWhatIsWrongWithTheHome() throws {
        let none = refusal("no home folder: HOME is not set, or empty; the stored state is unchanged")
        let unwritable =
            "init: ok\nwrite: /dev/null/.config: open: Not a directory; the stored state is unchanged\nread: nil ok\n"
        for (environment, output) in [([:], none), (["HOME": ""], none), (["HOME": "/dev/null"], unwritable)] {
            let result = try Child("Probe", ["report"], environment: environment).wait()
            #expect(result.output == output && result.code == 0, "\(environment)")
        }
        let relative = try Child("Probe", ["report"], environment: ["HOME": "somewhere"]).wait()
        #expect(relative.output.hasPrefix("init: somewhere: HOME is not an absolute path"))
    }

    /// What `report` prints if every access fails.
    private func refusal(_ message: String) -> String { "init: \(message)\nwrite: \(message)\nread: nil \(message)\n" }

    @Test func aFolderInTheFilesPlaceIsReported() throws {
        let place = home.file(".config/Probe.plist/inside")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try expect(
            refusal("\(home.path)/.config/Probe.plist: is a folder; the stored state is unchanged"), of: "report")
        #expect(FileManager.default.fileExists(atPath: place.path))
    }

    @Test func aRootThatIsNotADictionaryIsKept() throws {
        try writeDomain(["ProbePrefs": ["a", "list"]])
        let bytes = try Data(contentsOf: domain)
        let message = "the root \"ProbePrefs\": expected a dictionary, found another type; deleteRoot() removes it"
        try expect(refusal(message), of: "report")
        #expect(try Data(contentsOf: domain) == bytes)
    }

    @Test func damageIsMetBeforeUserDefaultsWritesOverIt() throws {
        try expect("7 damaged\nquarantined\n7 x theirs\n", of: "damage")
        #expect(try names().filter { $0.hasPrefix("Probe.plist.corrupt-") }.count == 1)
    }

    /// Contract 6: a read writes nothing, not even values that other code has not synchronized.
    @Test func whatIsNotSynchronizedIsReturnedAndNotWritten() throws {
        let names = "[\".Probe.plist.lastgood\", \".Probe.plist.lock\", \"Probe.plist\"]"
        try expect(
            """
            2
            0
            1 \(names)
            3 3
            4 3
            2
            3
            0 9
            no count \(names)

            """, of: "unsynchronized")
    }

    @Test func theStateThatUserDefaultsHasReadDoesNotHideANewerOne() throws {
        try expect("[0, 1, 2, 0, 3, 0] 0\n", of: "older-states")
    }

    @Test func aChangeInPlaceOfASuiteMakesNothingPermanent() throws {
        try expect("5 7 5\n3 x\n6\n", of: "volatile-values", "-argument", "7")
    }

    /// The executable is replaced while the program runs, as by an upgrade.
    @Test func aProgramWhoseFileIsGoneKeepsItsDomain() throws {
        let copy = home.file("Upgraded")
        try FileManager.default.copyItem(at: Child.executable("Probe"), to: copy)
        let result = try Child(copy, ["orphan"], environment: ["HOME": home.path]).wait()
        #expect(result.output == "init: ok\nwrite: ok\nread: 1 ok\n", "\(result.errors)")
        #expect(FileManager.default.fileExists(atPath: home.file(".config/Upgraded.plist").path))
    }

    /// `groupID` and `userDefaults` of the drop-in class.
    @Test func groupsAndInjectedUserDefaultsSelectTheStore() throws {
        try expect("done\n", of: "drop-in")
        let files = try names().filter { !$0.hasPrefix(".") }
        #expect(files == ["Probe.plist", "probe.group.plist", "probe.injected.plist", "probe.other.plist"])
    }
}
