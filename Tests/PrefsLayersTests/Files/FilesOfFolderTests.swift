import Foundation
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsLayers

/// The files of a folder that others write, at one moment.
@Suite struct FilesOfFolderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func put(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: folder.file(name))
    }

    private func texts(_ found: FilesOfFolder) -> [String: String] {
        found.files.mapValues { (try? $0.get()).map { String(decoding: $0, as: UTF8.self) } ?? "fault" }
    }

    /// Kubernetes exchanges a link between the reads of two files.
    @Test func filesThatAreExchangedDuringAReadAreReadAgain() throws {
        for number in 1...2 {
            let version = folder.file("..\(number)")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: false)
            for name in ["a", "b"] { try Data("\(number)".utf8).write(to: version.appending(path: name)) }
        }
        for (name, target) in [("..data", "..1"), ("..data_tmp", "..2"), ("a", "..data/a"), ("b", "..data/b")] {
            try FileManager.default.createSymbolicLink(atPath: folder.file(name).path, withDestinationPath: target)
        }
        let path = folder.path
        let found = FilesOfFolder.read(path, limit: 10) { name in
            // Fails after the first time.
            if name == "b" { _ = rename(path + "/..data_tmp", path + "/..data") }
        }
        #expect(texts(found) == ["a": "2", "b": "2"] && found.isCurrent)
        let names = ["", "a", "b", "..data", "..2/a", "..2/b"]
        #expect(found.paths == Set(names.map { "\(path)/\($0)" }))
    }

    /// The clock of the file system has ticks, and a write of the same size within one leaves the status as it was.
    @Test func aWriteWithinOneTickIsSeen() throws {
        let clock = StoppedClock()
        try put("1", "a")
        let found = FilesOfFolder.read(folder.path, limit: 10, system: clock)
        #expect(texts(found) == ["a": "1"] && found.isCurrent)
        let file = try #require(fopen(folder.file("a").path, "r+"))
        fputs("2", file)
        fclose(file)
        #expect(!found.isCurrent)
        let new = FilesOfFolder.read(folder.path, limit: 10, system: clock)
        #expect(texts(new) == ["a": "2"])
        // After the tick, the status is enough, and the bytes are not read again.
        clock.time = .init(seconds: 1_002, nanoseconds: 0)
        #expect(new.isCurrent)
        clock.afterRead = { Issue.record("the bytes are read again") }
        #expect(new.isCurrent)
        clock.stamp = .init(seconds: 1_001, nanoseconds: 1)
        #expect(!new.isCurrent)
        clock.afterRead = nil
    }

    @Test func theLimitIsThatOfOneFile() throws {
        try put("0123456789", "a")
        try put("0123456789x", "b")
        let found = FilesOfFolder.read(folder.path, limit: 10)
        #expect(texts(found) == ["a": "0123456789", "b": "fault"])
    }

    @Test func aMissingFolderAndALinkToNothingAreNoFaults() throws {
        let missing = FilesOfFolder.read(folder.file("none").path, limit: 10)
        #expect(missing.files.isEmpty && missing.failure == nil && missing.isCurrent)
        try FileManager.default.createSymbolicLink(atPath: folder.file("a").path, withDestinationPath: "nothing")
        #expect(texts(FilesOfFolder.read(folder.path, limit: 10)) == [:])
        try FileManager.default.createDirectory(at: folder.file("none"), withIntermediateDirectories: false)
        #expect(!missing.isCurrent)
    }
}
