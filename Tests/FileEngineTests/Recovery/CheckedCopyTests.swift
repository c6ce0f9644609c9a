import Foundation
import PrefsDocuments
import PrefsPropertyLists
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine

/// The form of a last good copy, and how the next one is written over it.
@Suite final class CheckedCopyTests: FolderSuite {
    private var copy: URL { folder.file(".test.plist.lastgood") }

    private func inode() throws -> UInt64? { try status()?.inode }

    private func status() throws -> FileStatus? { try SystemCalls.real.status(ofPath: copy.path, followsLinks: false) }

    @Test func everyHalfAndEveryFlippedBitIsRecognized() throws {
        for count in [0, 1, 7, 8, 9, 100] {
            let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) })
            let copy = CheckedCopy.copy(of: FileBytes(bytes))
            // The bytes after one line.
            #expect(copy.firstIndex(of: 0x0A) == CheckedCopy.headerSize - 1)
            #expect(copy.dropFirst(CheckedCopy.headerSize) == bytes)
            #expect(try CheckedCopy.bytes(of: copy) == bytes)
            #expect(try CheckedCopy.bytes(of: copy + Data("rest of a longer one".utf8)) == bytes)
            for length in CheckedCopy.magic.count..<copy.count {
                #expect(throws: PropertyListFault.self) { try CheckedCopy.bytes(of: copy.prefix(length)) }
            }
            let digits = CheckedCopy.magic.count..<copy.count
            for index in digits where count == 0 || index >= CheckedCopy.headerSize {
                for bit in 0..<8 where ![28, 45].contains(index) {
                    var damaged = copy
                    damaged[index] ^= 1 << bit
                    // The case of a digit does not matter.
                    if damaged[index] | 0x20 == copy[index] | 0x20, index < CheckedCopy.headerSize { continue }
                    #expect(throws: PropertyListFault.self, "\(index), \(bit)") { try CheckedCopy.bytes(of: damaged) }
                }
            }
        }
    }

    /// A changed text is written in parts, and its copy is read as one.
    @Test func theChecksumOfPartsIsThatOfTheWhole() {
        let bytes = Data((0..<43).map { UInt8($0 * 37 % 251) })
        let whole = CheckedCopy.checksum(FileBytes(bytes))
        for first in stride(from: 0, through: bytes.count, by: 8) {
            for second in stride(from: first, through: bytes.count, by: 8) {
                let parts = FileBytes([bytes[..<first], bytes[first..<second], bytes[second...]])
                #expect(CheckedCopy.checksum(parts) == whole, "\(first), \(second)")
            }
        }
    }

    @Test func theBeginningOfOneAndTheEndOfAnotherIsRecognized() {
        let (first, second) = (Data(repeating: 0x31, count: 300), Data(repeating: 0x32, count: 300))
        let (old, new) = (CheckedCopy.copy(of: FileBytes(first)), CheckedCopy.copy(of: FileBytes(second)))
        for length in 1..<old.count {
            let torn = new.prefix(length) + old.dropFirst(length)
            let isWhole = torn == old || torn == new
            #expect((try? CheckedCopy.bytes(of: torn)) == (isWhole ? (torn == new ? second : first) : nil), "\(length)")
        }
    }

    @Test func theNextCopyIsWrittenOverItAndCutOff() throws {
        let prefs = folder.root()
        prefs["a"] = String(repeating: "long ", count: 2_000)
        let first = try inode()
        prefs["a"] = 1
        #expect(try inode() == first)
        #expect(try CheckedCopy.copy(of: FileBytes(Data(contentsOf: folder.file()))) == Data(contentsOf: copy))
    }

    @Test func aCopyOfTheFirstEditionIsReadAndReplaced() throws {
        let prefs = folder.root()
        prefs["a"] = 1
        try Data(contentsOf: folder.file()).write(to: copy)
        let first = try inode()
        try Data("damaged".utf8).write(to: folder.file())
        #expect(folder.root().ints == ["a": 1])
        prefs["b"] = 2
        #expect(try inode() != first)
        #expect(try CheckedCopy.copy(of: FileBytes(Data(contentsOf: folder.file()))) == Data(contentsOf: copy))
    }

    /// A program that starts after the damage takes over what people have written.
    @Test func aWriteFromACopyKeepsItsText() throws {
        let (note, format) = ("<!-- by hand -->", FileFormat.xml)
        let text = "<plist><dict>\(note)<key>Root</key><dict><key>a</key><integer>1</integer></dict></dict></plist>"
        try Data(text.utf8).write(to: folder.file())
        FileRoot(folder.file().path, format: format)["b"] = 2
        try Data("a\0b".utf8).write(to: folder.file())
        let prefs = FileRoot(folder.file().path, format: format, system: RecordingSystemCalls())
        prefs["c"] = 3
        #expect(prefs.outcome.hasPrefix("quarantined: ") && prefs.ints == ["a": 1, "b": 2, "c": 3])
        #expect(try String(contentsOf: folder.file(), encoding: .utf8).contains(note))
    }

    /// A commit writes the copy after the file. The copy is younger, and tells no more than the process knows.
    @Test func aYoungerCopyOfTheKnownStateIsNoNews() throws {
        let prefs = folder.root(system: RecordingSystemCalls())
        prefs["a"] = 1
        try copy.setModified(secondsFromNow: 60)
        try Data("a\0b".utf8).write(to: folder.file())
        #expect(prefs.ints == ["a": 1] && prefs.lastError?.report?.state == .lastKnown)
        // A program that starts now knows only the copy.
        let report = try #require(folder.root(system: RecordingSystemCalls()).lastError?.report)
        guard case .lastGoodCopy = report.state else {
            Issue.record("\(report.state)")
            return
        }
    }

    /// The state that a write would start from has two keys that a dictionary cannot tell apart.
    @Test(arguments: [true, false], [FileFormat.xml, .plainXML])
    func aWriteFromAStateThatItWouldNotStoreIsRejected(_ isKnown: Bool, _ format: FileFormat) throws {
        let keys = "<key>\u{E9}</key><integer>1</integer><key>e\u{301}</key><integer>2</integer>"
        let bytes = Data("<plist><dict><key>Root</key><dict>\(keys)</dict></dict></plist>".utf8)
        try (isKnown ? bytes : CheckedCopy.copy(of: FileBytes(bytes))).write(to: isKnown ? folder.file() : copy)
        let known = isKnown ? FileRoot(folder.file().path, format: format, system: RecordingSystemCalls()) : nil
        if isKnown { try CheckedCopy.copy(of: FileBytes(Data("bplist00".utf8))).write(to: copy) }
        let damage = Data("a\0b".utf8)
        try damage.write(to: folder.file())
        let prefs = known ?? FileRoot(folder.file().path, format: format, system: RecordingSystemCalls())
        #expect(prefs.ints.count == 1)
        prefs["b"] = 2
        #expect(prefs.outcome.hasPrefix("not stored: \(folder.file().path): the keys "), "\(prefs.outcome)")
        #expect(try Data(contentsOf: folder.file()) == damage && folder.quarantined == [])
    }

    /// The clock was set back since, or a program has touched the copy.
    @Test func aCopyOfTomorrowIsReadAndReplaced() throws {
        let prefs = folder.root()
        prefs["a"] = 1
        try copy.setModified(secondsFromNow: 86_400)
        try Data("damaged".utf8).write(to: folder.file())
        #expect(folder.root().ints == ["a": 1] && prefs.ints == ["a": 1])
        prefs["b"] = 2
        #expect(folder.root().ints == ["a": 1, "b": 2])
        #expect(try CheckedCopy.copy(of: FileBytes(Data(contentsOf: folder.file()))) == Data(contentsOf: copy))
        try Data("damaged".utf8).write(to: folder.file())
        #expect(folder.root().ints == ["a": 1, "b": 2])
    }

    /// A program that has the copy open, or has another name for it, would read the next copy.
    @Test func aCopyThatOthersCanOpenIsReplaced() throws {
        let prefs = folder.root()
        prefs["a"] = 1
        chmod(copy.path, 0o644)
        let (open, second) = (try FileHandle(forReadingFrom: copy), folder.file("second"))
        let before = try Data(contentsOf: copy)
        prefs["a"] = 2
        #expect(try open.readToEnd() == before)
        #expect(try status()?.permissions == 0o600)
        try FileManager.default.linkItem(at: copy, to: second)
        let linked = try Data(contentsOf: copy)
        prefs["a"] = 3
        #expect(try Data(contentsOf: second) == linked)
        #expect(try CheckedCopy.bytes(of: Data(contentsOf: copy)) == Data(contentsOf: folder.file()))
    }
}
