import Foundation
import PrefsStoreChecks
import TestSupport
import Testing

/// The store over the domain of UserDefaults, always in children: UserDefaults captures HOME when a process starts.
@Suite final class DefaultStoreTests: ProbeSuite {
    @Test(arguments: StoreCheck.all + StoreCheck.observing)
    func passesTheStoreContract(_ check: StoreCheck) throws {
        let result = try probe("conformance", check.name, "\(Hazard.count(25, long: 100))")
        #expect(result.output == "passed\n", "\(result.errors)")
        #expect(result.code == 0)
    }

    @Test func agreesWithUserDefaults() throws {
        let result = try probe("agreement", "-Argued", "text", "-probeArgument", "7")
        #expect(result.output == "done\n", "\(result.errors)")
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
        for (environment, folder, name) in cases {
            let result = try Child("Probe", ["report"], environment: environment).wait()
            #expect(result.output == "init: ok\nwrite: ok\nread: 1 ok\n")
            #expect(FileManager.default.fileExists(atPath: folder.file(name).path))
            // Removes the last good copy, too, which a write would keep.
            for name in try folder.names() { try FileManager.default.removeItem(at: folder.file(name)) }
        }
    }

    @Test func withoutAHomeEveryAccessSaysSo() throws {
        let message = "no home folder: HOME is not set, or empty; the stored state is unchanged"
        for environment in [[:], ["HOME": ""]] {
            let result = try Child("Probe", ["report"], environment: environment).wait()
            #expect(result.output == "init: \(message)\nwrite: \(message)\nread: nil \(message)\n")
        }
        let relative = try Child("Probe", ["report"], environment: ["HOME": "somewhere"]).wait()
        #expect(relative.output.hasPrefix("init: somewhere: HOME is not an absolute path"))
    }

    @Test func anUnwritableHomeIsReported() throws {
        let result = try Child("Probe", ["report"], environment: ["HOME": "/dev/null"]).wait()
        #expect(
            result.output == """
                init: ok
                write: /dev/null/.config: open: Not a directory; the stored state is unchanged
                read: nil ok

                """)
        #expect(result.code == 0)
    }

    @Test func aFolderInTheFilesPlaceIsReported() throws {
        let place = home.file(".config/Probe.plist/inside")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let result = try probe("report")
        let message = "\(home.path)/.config/Probe.plist: is a folder; the stored state is unchanged"
        #expect(result.output == "init: \(message)\nwrite: \(message)\nread: nil \(message)\n")
        #expect(FileManager.default.fileExists(atPath: place.path))
    }

    @Test func aRootThatIsNotADictionaryIsKept() throws {
        try writeDomain(["ProbePrefs": ["a", "list"]])
        let bytes = try Data(contentsOf: domain)
        let result = try probe("report")
        let message = "the root \"ProbePrefs\": expected a dictionary, found another type; deleteAll() removes it"
        #expect(result.output == "init: \(message)\nwrite: \(message)\nread: nil \(message)\n")
        #expect(try Data(contentsOf: domain) == bytes)
    }

    @Test func damageIsMetBeforeUserDefaultsWritesOverIt() throws {
        let result = try probe("damage")
        #expect(result.output == "7 damaged\nquarantined\n7 x theirs\n", "\(result.errors)")
        #expect(try names().filter { $0.hasPrefix("Probe.plist.corrupt-") }.count == 1)
    }

    /// Contract 6: a read writes nothing, not even values that other code has not synchronized.
    @Test func whatIsNotSynchronizedIsReturnedAndNotWritten() throws {
        let result = try probe("unsynchronized")
        let names = "[\".Probe.plist.lastgood\", \".Probe.plist.lock\", \"Probe.plist\"]"
        #expect(
            result.output == """
                2
                0
                1 \(names)
                3 3
                4 3
                2
                3
                0 9
                no count \(names)

                """, "\(result.errors)")
    }

    @Test func theStateThatUserDefaultsHasReadDoesNotHideANewerOne() throws {
        let result = try probe("older-states")
        #expect(result.output == "[0, 1, 2, 0, 3, 0] 0\n", "\(result.errors)")
    }

    @Test func aChangeInPlaceOfASuiteMakesNothingPermanent() throws {
        let result = try probe("volatile-values", "-argument", "7")
        #expect(result.output == "5 7 5\n3 x\n", "\(result.errors)")
    }

    /// The executable is replaced while the program runs, as by an upgrade.
    @Test func aProgramWhoseFileIsGoneKeepsItsDomain() throws {
        let copy = home.file("Upgraded")
        try FileManager.default.copyItem(at: Child.executable("Probe"), to: copy)
        let result = try Child(copy, ["orphan"], environment: ["HOME": home.path]).wait()
        #expect(result.output == "init: ok\nwrite: ok\nread: 1 ok\n", "\(result.errors)")
        #expect(FileManager.default.fileExists(atPath: home.file(".config/Upgraded.plist").path))
    }
}
