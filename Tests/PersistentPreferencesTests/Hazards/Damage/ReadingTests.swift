@testable import PrefsSupport
import Foundation
import PrefsLayers
import PrefsStoreKit
import Testing
import WriteOperations

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsJSON
@testable import PrefsKeys
@testable import PrefsSettingsFiles

/// Contract 6: no kind of read changes anything. The whole folder is compared (names, bytes, inodes, permissions and
/// times) before and after each kind of read of each kind of file.
@Suite(.waits) struct ReadingTests {
    /// Ways to read.
    enum Read: CaseIterable {
        case initializer, subscripting, values, count, flush, export, typed, handle, observe, store, observeStore,
            describe
        case domain, settings, model, setting, dictionary
    }

    private typealias Situation = (FoundFile.Content, FoundFile.Neighbors, TemporaryFolder, URL)

    /// A read waits for the rest of a young file that seems to be cut off, so the files are young in only one of the
    /// four cases.
    @Test(arguments: [false, true], [FileFormat.binary, .json])
    func nothingChanges(_ isLinked: Bool, _ format: FileFormat) throws {
        let situations = try FoundFile.Content.allCases.enumerated().flatMap { number, content -> [Situation] in
            try FoundFile.Neighbors.allCases.enumerated().compactMap { place, neighbors -> Situation? in
                // The usual form reads each file in two of the four ways.
                if !Hazard.isLong, (number + place).isMultiple(of: 2) == (isLinked == (format == .json)) { return nil }
                let folder = try TemporaryFolder()
                let url = try FoundFile.put(
                    content, neighbors, isLinked, isYoung: !isLinked && format == .json, in: folder)
                return (content, neighbors, folder, url)
            }
        }
        for (content, neighbors, folder, url) in situations {
            let before = try FolderState(folder)
            for read in Read.allCases {
                // A settings file that is missing is created, as documented.
                if read == .settings, content == .missing || content == .empty && neighbors == .none { continue }
                // The second read uses the state that the first one has cached.
                let store = PrefsStore.propertyList(url: url, format: format, system: RecordingSystemCalls())
                for _ in 0..<2 { run(read, store, url, format) }
                #expect(try FolderState(folder) == before, "\(read), \(content), \(neighbors)")
            }
        }
    }

    /// A program that was running when the file was damaged knows the state, and still changes nothing.
    @Test func nothingIsChangedByWhoKnewTheFile() throws {
        let situations = try FoundFile.Content.allCases.map { content in
            let folder = try TemporaryFolder()
            let prefs = folder.prefs()
            prefs["a"] = 1
            if let bytes = content.bytes {
                try bytes.write(to: folder.file())
            } else {
                try FileManager.default.removeItem(at: folder.file())
            }
            return (content, folder, prefs)
        }
        for (content, folder, prefs) in situations {
            let observation = prefs.onChange { _ in }
            let before = try FolderState(folder)
            for access in [AccessKind.read, .count, .flush] { access.run(on: prefs) }
            _ = (prefs.values, prefs.exported(as: .json), prefs["b"])
            #expect(try FolderState(folder) == before, "\(content)")
            observation.cancel()
        }
    }

    private struct Setting: PrefKey { static let defaultValue = 5 }

    private func run(_ read: Read, _ store: PrefsStore, _ url: URL, _ format: FileFormat) {
        func prefs() -> AnyPrefs { AnyPrefs(key: "AnyPrefs", store: store) }
        func typed() -> ReadPrefs { ReadPrefs(key: "AnyPrefs", store: store) }
        switch read {
        case .initializer: _ = prefs()
        case .subscripting: _ = prefs()["a"]
        case .values: _ = prefs().values
        case .count: _ = prefs().visibleCount()
        case .flush: prefs().reload()
        case .export: ExportFormat.allCases.forEach { _ = prefs().exported(as: $0) }
        case .typed: _ = typed().a
        case .handle: _ = (typed().$a.isStored, typed().$a.isDefault)
        case .observe: prefs().onChange { _ in }.cancel()
        case .store: _ = try? store.read(root: "AnyPrefs")
        case .observeStore: (try? store.observe(root: "AnyPrefs") { _ in })?.cancel()
        case .describe: _ = (typed().describe(), typed().allowedKeys)
        case .domain:
            let file = FileLocation(path: url.path) { $0.formatOfNewFile = format }
            _ = try? Roots(file).state(of: .everything)
        case .settings:
            var settings = ReadSettings(place: url)
            settings.load()
        case .model:
            _ = try? PropertyListController<ReadModel>(resource: "test", folder: url.deletingLastPathComponent())
        case .setting: _ = AppSettingsValues(store: store, root: "AnyPrefs")[Setting.self]
        case .dictionary: _ = ReadSettings(place: url).toDictionary()
        }
    }
}

private final class ReadPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var a = 5
}

private struct ReadSettings: SettingsFile {
    var a = 1
    private var place = URL(filePath: "/")

    private enum CodingKeys: CodingKey { case a }

    init(place: URL) { self.place = place }

    func settingsURL() -> URL { place }
}

private struct ReadModel: PropertyListModel {
    init(_ dictionary: PropertyListDictionary) throws {}
}
