@testable import PrefsSupport
import Foundation
import Testing
import WriteOperations

@testable import EngineSupport
@testable import PersistentPreferences

private final class WrittenPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var a = 0
    @Pref var b = 0
}

/// Every operation over a file: what it stores, what it leaves alone, and what it says if it cannot.
@Suite(.limited) struct WriteOperationTests {
    private static let root = "WrittenPrefs"

    private let folder = TemporaryFolder.fresh

    private var store: PrefsStore { .propertyList(url: folder.file()) }

    private func target(_ store: PrefsStore) -> WriteTarget {
        WriteTarget(
            WrittenPrefs(store: store), in: store, \.a, \.$a, to: 2,
            create: { WrittenPrefs(values: $0, store: store) })
    }

    private static let operations = WriteOperation.of(.property, .instance, .container, .store)

    @Test(arguments: operations) func itIsOnDiskWhenItReturnsAndLeavesOtherEntriesAlone(
        _ operation: WriteOperation
    ) async throws {
        let others: [String: Any] = ["Other": ["a": 7], "x": true]
        let stored = [Self.root: ["a": 1, "b": 1, "of another version": 1]]
        try writePropertyList(others.merging(stored) { $1 }, to: folder.file())
        #expect(await target(store).perform(operation) == nil)
        var root: [String: Int]? = ["b": 1, "of another version": 1]
        switch operation.effect {
        case .puts:
            root?["a"] = 2
            if !operation.keepsOtherKeys { root?["b"] = nil }
        case .removes: break
        case .empties: root = operation == .clear ? ["of another version": 1] : nil
        }
        var expected = others
        expected[Self.root] = root
        #expect(try propertyList(at: folder.file()) as NSDictionary == expected as NSDictionary)
    }

    @Test(arguments: operations) func anEqualOneWritesNothing(_ operation: WriteOperation) async throws {
        let target = target(store)
        WrittenPrefs(store: store).b = 1
        _ = await target.perform(operation)
        let before = try FolderState(folder)
        #expect(await target.perform(operation) == nil)
        #expect(try FolderState(folder) == before)
    }

    @Test(arguments: operations) func aFileOfOthersStays(_ operation: WriteOperation) async throws {
        try folder.damage()
        let before = try FolderState(folder)
        #expect(await target(store).perform(operation)?.detail(of: PrefsError.notOurs) != nil)
        #expect(try FolderState(folder) == before)
    }

    @Test(arguments: operations) func aDamagedFileIsQuarantined(_ operation: WriteOperation) async throws {
        WrittenPrefs(store: store).b = 1
        try folder.damage()
        let error = await target(store).perform(operation)
        #expect(error == nil || error?.isWarning == true, "\(error as Any)")
        #expect(try folder.quarantined().count == 1)
        #expect(WrittenPrefs(store: store).b == (operation.keepsOtherKeys ? 1 : 0))
    }

    @Test(arguments: operations.filter { !$0.isAsync }) func anUpdateThatThrowsUndoesIt(
        _ operation: WriteOperation
    ) throws {
        let store = store
        let prefs = WrittenPrefs(store: store)
        (prefs.a, prefs.b) = (1, 1)
        let before = try FolderState(folder)
        #expect(throws: Stop.self) {
            try prefs.update {
                prefs.b = 2
                #expect(target(store).performBlocking(operation) == nil)
                throw Stop()
            }
        }
        #expect(try FolderState(folder) == before)
    }

    @Test(arguments: operations) func itIsReportedOnce(_ operation: WriteOperation) async throws {
        let store = store
        let prefs = WrittenPrefs(store: store)
        prefs.a = 1
        let heard = Observer<String> { tell in prefs.onChange { tell("\($0.keys) \($0.count)") } }
        #expect(await target(store).perform(operation) == nil)
        #expect(heard.wait(for: 1) == [#"["a"] 1"#])
    }

    // MARK: - Documents

    private static let documentOperations = WriteOperation.of(.document)

    private var document: DocumentTarget { DocumentTarget(in: folder.file("Documents")) }

    /// What is in the file of an operation, by Foundation; nil if there is no file.
    private func number(in file: URL) throws -> Int? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        return ((list as? [[String: Int]])?.first ?? list as? [String: Int])?["number"]
    }

    @Test(arguments: documentOperations) func aDocumentIsOnDiskWhenItReturns(_ operation: WriteOperation) throws {
        let file = document.file(of: operation)
        if operation.effect == .empties { try document.perform(.settingsSave) }
        try document.perform(operation)
        #expect(try number(in: file) == (operation.effect == .empties ? nil : DocumentTarget.number))
        if operation.effect == .empties { return }
        let before = try FolderState(in: file.deletingLastPathComponent().path)
        try document.perform(operation)
        #expect(try FolderState(in: file.deletingLastPathComponent().path).hasSameFiles(as: before))
    }

    @Test(arguments: documentOperations) func aDocumentOfOthersStays(_ operation: WriteOperation) throws {
        let file = document.file(of: operation)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("hello".utf8).write(to: file)
        if [.settingsReset, .settingsDelete].contains(operation) {
            // These words say that the file is to go.
            try document.perform(operation)
            let folder = file.deletingLastPathComponent()
            let aside = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasPrefix("Settings.plist.corrupt-")
            }
            #expect(try aside.map { try Data(contentsOf: folder.appending(path: $0)) } == [Data("hello".utf8)])
            return
        }
        let error = #expect(throws: (any Error).self) { try document.perform(operation) }
        #expect("\(error as Any)".contains("because it may belong to another program"))
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
    }
}
