import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport

/// The place of the settings of a test.
enum SettingsPlace {
    @TaskLocal static var folder = URL(filePath: "/dev/null")
    /// The bundle with initial values.
    @TaskLocal static var bundle = Bundle.main
    /// The errors that the settings of a test have told.
    @TaskLocal static var errors = Locked([String]())

    static func file(_ name: String) -> URL { folder.appending(path: name, directoryHint: .notDirectory) }
}

/// Runs each case of each test of a suite with its own folder.
struct InSettingsPlace: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        try await SettingsPlace.$folder.withValue(folder.file("Settings")) {
            try await SettingsPlace.$errors.withValue(Locked([])) { try await function() }
        }
    }
}

extension SuiteTrait where Self == InSettingsPlace {
    static var inSettingsPlace: Self { Self() }
}

/// Settings whose errors the test hears.
protocol HeardSettings: SettingsFile {}

extension HeardSettings {
    func settingsDidFail(_ error: PrefsError) { SettingsPlace.errors.withLock { $0.append("\(error)") } }
}

/// The class of seed 000, with its values in code and one instance for all.
final class AppSettings: HeardSettings, Equatable {
    @MainActor static let shared = AppSettings()

    var username = "anonymous"
    var fontSize = 12.0
    var isDark = false
    var lastOpened: String?

    static var settingsURL: URL { SettingsPlace.file("AppSettings.plist") }

    func copyValues(from loaded: AppSettings) {
        username = loaded.username
        fontSize = loaded.fontSize
        isDark = loaded.isDark
        lastOpened = loaded.lastOpened
    }

    static func == (left: AppSettings, right: AppSettings) -> Bool {
        (left.username, left.fontSize, left.isDark, left.lastOpened)
            == (right.username, right.fontSize, right.isDark, right.lastOpened)
    }
}

/// The struct of seed 000, with its values in a bundled property list.
struct PlayerSettings: HeardSettings, Equatable {
    var name = ""
    var level = 0
    var weapons: [String] = []
    var speed = 0.0

    static var settingsBundle: Bundle { SettingsPlace.bundle }

    static var settingsURL: URL { SettingsPlace.file("PlayerSettings.plist") }
}

/// Settings without initial values, in XML.
struct ViewSettings: HeardSettings, Equatable {
    struct Window: Codable, Equatable {
        var width = 800
        var title: String? = "Main"
    }

    var volume = 5
    var window = Window()
    var opened = Date(timeIntervalSinceReferenceDate: 1_000)
    var note: String?

    static var settingsFormat: FileFormat { .plainXML }

    static var settingsURL: URL { SettingsPlace.file("ViewSettings.plist") }
}

/// An enum is a settings file, too.
enum ModeSettings: HeardSettings, Equatable {
    case simple
    case expert(level: Int)

    static var settingsURL: URL { SettingsPlace.file("ModeSettings.plist") }
}

/// Writes the file of settings as another program would.
///
/// - Parameter suffix: is appended to the name of the file.
func write(_ root: Any, for settings: some SettingsFile, suffix: String = "") throws {
    let url = settings.settingsURL()
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try writePropertyList(root, to: URL(filePath: url.path + suffix))
}

func write(_ bytes: Data, for settings: some SettingsFile) throws {
    try FileManager.default.createDirectory(at: SettingsPlace.folder, withIntermediateDirectories: true)
    try bytes.write(to: settings.settingsURL())
}

/// Changes with every write of the file.
func fileNumber(at url: URL) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? Int)
}

/// The files that saves have quarantined.
func quarantined() throws -> [Data] {
    try FileManager.default.contentsOfDirectory(atPath: SettingsPlace.folder.path)
        .filter { $0.contains(".corrupt-") }.map { try Data(contentsOf: SettingsPlace.file($0)) }
}

/// Expects success of a mutating call, which `#expect` cannot expand.
func succeeds(_ isDone: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(isDone, sourceLocation: sourceLocation)
}

/// The text of the error of a call, without the words with which the messages of most errors end.
func failure(_ body: () throws -> Void) -> String {
    do {
        try body()
        return "no error"
    } catch {
        return error is PrefsError ? withoutEnd("\(error)") : "an error of another type: \(error)"
    }
}

private func withoutEnd(_ message: String) -> String {
    message.replacing(/; the stored state is unchanged$/, with: "")
}

/// The text of the error that a call told; see `failure`.
func told(_ body: () -> Bool) -> String {
    SettingsPlace.errors.withLock { $0 = [] }
    return body() ? "no error" : SettingsPlace.errors.withLock { $0.map(withoutEnd).joined(separator: "\n") }
}
