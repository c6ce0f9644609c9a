import EngineSupport
import Foundation
import PersistentPreferences
import PrefsTesting
import TestSupport
import Testing

/// The guard and the accesses outside of a test's task, in test processes with their own home folder. Each runs this
/// program again, with one of the suites below.
@Suite(.waits, .enabled(if: Sample.program != nil, "this program does not run alone")) struct GuardTests {
    private let home: TemporaryFolder

    init() throws {
        home = try TemporaryFolder()
    }

    @Test(arguments: [
        // The first access is a warning of its test.
        ("WithoutTheTrait", "with 1 argument number → 1"),
        ("OutsideOfATask", "PrefsTesting: an access to the default domain"),
        ("WithAStoreOfTheClass", nil), ("WithTheTrait", nil),
    ])
    func theFirstAccessToTheDefaultDomainIsReported(_ sample: String, _ place: String?) throws {
        let result = try Child(
            #require(Sample.program), ["--testing-library", "swift-testing", "--filter", sample],
            environment: ["HOME": home.path, Sample.variable: "1"]
        ).wait()
        let output = result.output + result.errors
        #expect(result.code == 0 && output.contains("with 3 test cases passed"), "\(output)")
        let count = output.components(separatedBy: "an access to the default domain of UserDefaults").count - 1
        #expect(count == (place == nil ? 0 : 1) && place.map { output.contains($0) } != false, "\(output)")
        #expect(output.contains("PrefsTesting: ") == (sample == "OutsideOfATask"), "\(output)")
        let files = FileManager.default.enumerator(atPath: home.path)?.compactMap { $0 as? String } ?? []
        #expect(files.count { $0.hasSuffix(".plist") } == count)
    }

    /// The test process names the class of an instance that was created too early.
    @Test func anInstanceBeforeTheTestsIsNamed() throws {
        let result = try Child("Probe", ["before-tests"], home: home).wait()
        #expect(result.output == "false ProbePrefs\n", "\(result.errors)")
    }
}

/// The suites that `GuardTests` runs. They are skipped in other runs.
enum Sample {
    static let variable = "PREFS_TESTING_SAMPLES"

    static let isAsked = ProcessInfo.processInfo.environment[variable] != nil

    /// This test program; nil if it is a bundle, which needs a tool that loads it.
    static let program = Bundle.main.executableURL.flatMap { $0.pathExtension == "xctest" ? $0 : nil }
}

@Suite(.waits, .enabled(if: Sample.isAsked), .serialized, .guardsDefaultPrefs) struct WithoutTheTrait {
    @Test(arguments: 1...3) func usesTheDefaultDomain(_ number: Int) {
        AppPrefs.shared.number = number
        #expect(AppPrefs.shared.number == number)
    }
}

@Suite(.waits, .enabled(if: Sample.isAsked), .serialized) struct OutsideOfATask {
    @Test(arguments: 1...3) func usesTheDefaultDomain(_ number: Int) async {
        await Task.detached { AppPrefs.shared.number = number }.value
        #expect(await Task.detached { AppPrefs.shared.number }.value == number)
    }
}

/// One at a time, so that code outside of the test's task uses its store.
@Suite(.waits, .enabled(if: Sample.isAsked), .serialized, .inMemoryPrefs) struct WithTheTrait {
    @Test(.inMemoryPrefs, arguments: 1...3) func aDetachedTaskUsesTheStoreOfTheOnlyTest(_ number: Int) async {
        // The first test creates the instance, which follows the others, too.
        #expect(AppPrefs.shared.number == 0)
        #expect(await Task.detached { AppPrefs.shared.number }.value == 0)
        AppPrefs.shared.number = number
        #expect(await Task.detached { AppPrefs.shared.number }.value == number)
        #expect(await Task.detached { AppPrefs().number }.value == number)
        inThreads(2) { _ in _ = AppPrefs.shared.update { AppPrefs.shared.number += 1 } }
        #expect(AppPrefs.shared.number == number + 2)
    }
}

/// Preferences in a file that the class chooses.
private final class FilePrefs: Prefs, @unchecked Sendable {
    @Pref var number = 0

    static let shared = FilePrefs()
    private static let file = PrefsStore.propertyList(
        url: URL(filePath: ProcessInfo.processInfo.environment["HOME"] ?? "").appending(path: "chosen.plist"))
    override class var store: PrefsStore { file }
}

/// One at a time, so that code outside of the test's task uses its store.
@Suite(.waits, .enabled(if: Sample.isAsked), .serialized, .inMemoryPrefs) struct WithAStoreOfTheClass {
    @Test(arguments: 1...3) func isReplacedInEveryTaskAndThread(_ number: Int) async {
        #expect(await Task.detached { FilePrefs.shared.number }.value == 0)
        await Task.detached { FilePrefs.shared.number = number }.value
        #expect(FilePrefs.shared.number == number)
        await Task.detached { FilePrefs().number += 1 }.value
        inThreads(2) { _ in _ = FilePrefs.shared.update { FilePrefs.shared.number += 1 } }
        DispatchQueue.global().sync { FilePrefs.shared.number += 1 }
        #expect(FilePrefs.shared.number == number + 4)
    }
}
