@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsFileEngine

/// A new file gets the protection class that the store asks for. A file that replaces another keeps its class.
@Suite struct FileProtectionTests {
    /// A system with data protection: the class of a file is kept by its number.
    private final class ProtectingSystem: SystemCalls, @unchecked Sendable {
        private let classes = Locked<[UInt64: Int32]>([:])
        var refuses = false

        private func number(_ descriptor: Descriptor) -> UInt64 {
            var buffer = stat()
            fstat(descriptor, &buffer)
            return UInt64(buffer.st_ino)
        }

        override func protection(of descriptor: Descriptor) -> Int32? {
            classes.withLock { $0[number(descriptor)] ?? FileProtection.completeUntilFirstUnlock.number }
        }

        override func setProtection(_ protection: Int32, of descriptor: Descriptor) throws(StorageFailure) {
            if refuses { throw StorageFailure("protect", "", code: EPERM) }
            classes.withLock { $0[number(descriptor)] = protection }
        }

        func protection(ofFile url: URL) throws -> FileProtection? {
            let classes: [FileProtection] = [.complete, .completeUnlessOpen, .completeUntilFirstUnlock, .noProtection]
            let number = try number(ofFile: url)
            return classes.first { $0.number == number }
        }

        func number(ofFile url: URL) throws -> Int32? {
            let handle = try FileHandle(forReadingFrom: url)
            defer { try? handle.close() }
            return protection(of: handle.fileDescriptor)
        }
    }

    private let folder = TemporaryFolder.fresh
    private let system = ProtectingSystem()
    private static let names = ["test.plist", ".test.plist.lock", ".test.plist.lastgood"]

    private func prefs(_ protection: FileProtection?) -> AnyPrefs {
        AnyPrefs(
            store: .propertyList(
                url: folder.file(), durability: .crash, protection: protection, system: system))
    }

    private func classes() throws -> [FileProtection?] {
        try Self.names.map { try system.protection(ofFile: folder.file($0)) }
    }

    /// The files beside it get the class, too, so that a program that reads before the first unlock can also write.
    @Test func everyFileGetsTheClassOfTheStore() throws {
        prefs(.noProtection)["a"] = 1
        #expect(try classes() == [.noProtection, .noProtection, .noProtection])
        prefs(nil)["a"] = 2
        #expect(try classes() == [.noProtection, .noProtection, .noProtection])
        prefs(.complete)["a"] = 3
        #expect(try classes() == [.complete, .complete, .complete])
    }

    /// A class that is newer than this package.
    @Test func aClassWithoutANameIsKept() throws {
        prefs(nil)["a"] = 1
        let handle = try FileHandle(forReadingFrom: folder.file())
        try system.setProtection(7, of: handle.fileDescriptor)
        prefs(nil)["a"] = 2
        try handle.close()
        #expect(try system.number(ofFile: folder.file()) == 7)
        #expect(try system.number(ofFile: folder.file(".test.plist.lastgood")) == 7)
    }

    @Test func withoutAClassTheSystemChooses() throws {
        prefs(nil)["a"] = 1
        #expect(try classes() == Array(repeating: .completeUntilFirstUnlock, count: 3))
    }

    @Test func aQuarantinedFileKeepsItsClass() throws {
        let prefs = prefs(.noProtection)
        prefs["a"] = 1
        let handle = try FileHandle(forWritingTo: folder.file())
        try handle.write(contentsOf: Data("damaged".utf8))
        try handle.close()
        prefs["b"] = 2
        #expect(prefs.lastError?.isWarning == true)
        let quarantined = try #require(folder.names().first { $0.contains(".corrupt-") })
        #expect(try system.protection(ofFile: folder.file(quarantined)) == .noProtection)
        #expect(try classes()[0] == .noProtection)
    }

    @Test func aRejectedClassRejectsTheWrite() throws {
        let prefs = prefs(.completeUnlessOpen)
        prefs["a"] = 1
        system.refuses = true
        prefs["a"] = 2
        #expect(prefs.lastError?.detail(of: PrefsError.notStored) != nil, "\(prefs.outcome)")
        system.refuses = false
        #expect(prefs["a"] as? Int == 1)
        #expect(try folder.names().sorted() == Self.names.sorted())
    }
}
