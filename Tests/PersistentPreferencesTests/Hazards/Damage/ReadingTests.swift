import Foundation
import PrefsTestSet
import PropertyListSupport
import TestSupport
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsPropertyLists
@testable import PrefsTool

/// Contract 6: no kind of read changes anything, whatever it finds. The whole folder is compared, names, bytes, inodes, permissions
/// and times, before and after each kind of read of each kind of file.
@Suite struct ReadingTests {
    /// What is in the place of the file.
    enum Content: String, CaseIterable {
        case missing, empty, text, json, cutJSON, typoInJSON, openStep, html, arrayOnTop, cutXML, typo, cutBinary,
            zeros, unsupported,
            tooDeep, whole, twins

        var bytes: Data? {
            switch self {
            case .missing: nil
            case .empty: Data()
            case .text: Data("my notes\n".utf8)
            case .json: Data("{\"AnyPrefs\": {\"a\": 1}}".utf8)
            case .cutJSON: Data("{\"AnyPrefs\": {\"a\": 1".utf8)
            case .typoInJSON: Data("{\n  \"AnyPrefs\": {\"a\": 1,}\n}\n".utf8)
            case .openStep: Data("{ AnyPrefs = { a = 1; }; }".utf8)
            case .html: Data("<html><body/></html>".utf8)
            case .arrayOnTop: Data("<plist><array><string>x</string></array></plist>".utf8)
            case .cutXML: Data("<?xml version=\"1.0\"?><plist><dict><key>AnyPrefs</key>".utf8)
            case .typo: Data("<plist><dict>\n<key>AnyPrefs</key><dic/>\n</dict></plist>".utf8)
            case .cutBinary: Data("bplist00".utf8)
            case .zeros: Data(count: 4_096)
            case .unsupported: Data([0xFF, 0xFE, 0, 0, 0x3C, 0, 0, 0])
            case .tooDeep: Data(("<plist>" + String(repeating: "<array>", count: 200)).utf8)
            case .whole:
                Data(
                    "<plist><dict><key>AnyPrefs</key><dict><key>a</key><integer>1</integer></dict></dict></plist>".utf8)
            case .twins: Data("<plist><dict><key>\u{E9}</key><true/><key>e\u{301}</key><true/></dict></plist>".utf8)
            }
        }
    }

    /// What stands beside it.
    enum Neighbors: CaseIterable {
        case none, goodCopy, damagedCopy, goodCopyAndLeftovers
    }

    /// Ways to read.
    enum Read: CaseIterable {
        case initializer, subscripting, values, count, flush, export, typed, handle, observe, store, observeStore,
            describe
        case domain, examination, surroundings, settings, model, setting, dictionary
    }

    private struct Situation {
        let content: Content
        let neighbors: Neighbors
        let folder: TemporaryFolder
        let url: URL
    }

    /// All files are written before the first is read. A read waits for the rest of a young file that seems to be cut off: so does
    /// the first one here, and the others are older by then.
    @Test(arguments: [false, true], [PropertyListFormat.binary, .json])
    func nothingChanges(_ isLinked: Bool, _ format: PropertyListFormat) throws {
        let situations = try Content.allCases.flatMap { content in
            try Neighbors.allCases.map { neighbors in
                let folder = try TemporaryFolder()
                let url = try set(content, neighbors, isLinked, in: folder)
                return Situation(content: content, neighbors: neighbors, folder: folder, url: url)
            }
        }
        for situation in situations {
            let (content, neighbors, folder) = (situation.content, situation.neighbors, situation.folder)
            let before = try FolderState(folder)
            for read in Read.allCases {
                // A settings file that is missing is created, as documented.
                if read == .settings, content == .missing || content == .empty && neighbors == .none { continue }
                for _ in 0..<2 { run(read, situation.url, format) }
                let after = try FolderState(folder)
                #expect(after == before, "\(read), \(content), \(neighbors)")
            }
        }
    }

    /// A program that was running when the file was damaged knows more, and changes no more.
    @Test func nothingIsChangedByWhoKnewTheFile() throws {
        let situations = try Content.allCases.map { content in
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
            for access in [PrefsAccess.read, .count, .flush] { access.run(on: prefs) }
            _ = (prefs.values, prefs.exported(as: .json), prefs["b"])
            #expect(try FolderState(folder) == before, "\(content)")
            observation.cancel()
        }
    }

    private func set(_ content: Content, _ neighbors: Neighbors, _ isLinked: Bool, in folder: TemporaryFolder) throws
        -> URL
    {
        let name = isLinked ? "target" : "test.plist"
        try content.bytes?.write(to: folder.file(name))
        if isLinked {
            try FileManager.default.createSymbolicLink(atPath: folder.file().path, withDestinationPath: "target")
        }
        let good = try PropertyListCoder.encode(plain: ["AnyPrefs": ["a": 7]], as: .binary)
        switch neighbors {
        case .none: break
        case .goodCopy: try good.write(to: folder.file(".\(name).lastgood"))
        case .damagedCopy: try good.dropLast().write(to: folder.file(".\(name).lastgood"))
        case .goodCopyAndLeftovers:
            try good.write(to: folder.file(".\(name).lastgood"))
            try Data("half".utf8).write(to: folder.file(".\(name).tmp"))
            try Data().write(to: folder.file(".\(name).lock"))
        }
        return folder.file()
    }

    private struct Setting: PrefKey { static let defaultValue = 5 }

    private func run(_ read: Read, _ url: URL, _ format: PropertyListFormat) {
        let store = PropertyListFileStore(url: url, format: format, system: RecordingSystemCalls())
        func prefs() -> AnyPrefs { AnyPrefs(key: "AnyPrefs", store: store) }
        func typed() -> ReadPrefs { ReadPrefs(key: "AnyPrefs", store: store) }
        switch read {
        case .initializer: _ = prefs()
        case .subscripting: _ = prefs()["a"]
        case .values: _ = prefs().values
        case .count: _ = prefs().count
        case .flush: prefs().flush()
        case .export: ExportFormat.allCases.forEach { _ = prefs().exported(as: $0) }
        case .typed: _ = typed().a
        case .handle: _ = (typed().$a.isSet, typed().$a.isDefault)
        case .observe: prefs().onChange { _ in }.cancel()
        case .store: _ = try? store.read(root: "AnyPrefs")
        case .observeStore: (try? store.observe(root: "AnyPrefs") { _ in })?.cancel()
        case .describe: _ = (typed().describe(), typed().keys)
        case .domain: _ = try? PropertyListDomain(url: url, format: format).entries()
        case .examination: _ = FileInspection(path: url.path, isJSON: format == .json)
        case .surroundings: _ = try? SidecarPaths(path: url.path)
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

    func encode(to dictionary: inout PropertyListDictionary) throws {}
}
