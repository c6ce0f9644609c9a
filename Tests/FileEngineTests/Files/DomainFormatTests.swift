import Foundation
import PrefsDocuments
import PrefsPropertyLists
import PropertyListSupport
import Testing
import TestSupport

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsJSON

/// The file of a UserDefaults domain never becomes JSON, because UserDefaults does not read it.
@Suite final class DomainFormatTests: FolderSuite {
    private let mirror = FileRules.DefaultsMirror(willChange: {}, didChange: {}, note: { _ in })

    /// The clock is ahead: no program is saving the file.
    private func file() -> PropertyListFile {
        PropertyListFile(path: folder.path + "/test.plist", system: RecordingSystemCalls())
    }

    private func set(_ key: String, in file: PropertyListFile) throws {
        try file.transact(durability: .process) { $0.replace(key, with: .string("x")) }
    }

    private func bytes() throws -> Data { try Data(contentsOf: folder.file()) }

    @Test(arguments: [false, true]) func aNewFileIsAPropertyList(_ isMirrorFirst: Bool) throws {
        let file = file()
        if isMirrorFirst { file.setRules { $0.mirror = mirror } }
        file.setRules { $0.formatOfNewFile = .json }
        if !isMirrorFirst { file.setRules { $0.mirror = mirror } }
        try set("a", in: file)
        #expect(try PropertyListCoder.decode(bytes()).format == .binary)
    }

    /// Other code turns the file into XML, which cannot hold a stored or an assigned value.
    @Test(arguments: [false, true]) func xmlBecomesBinaryAgainForAValueThatItCannotHold(_ isThere: Bool) throws {
        var content: [String: Any] = ["theirs": Date(timeIntervalSinceReferenceDate: 7)]
        if isThere { content["odd"] = "a\0b" }
        try writePropertyList(content, to: folder.file(), as: .xml)
        let file = file()
        file.setRules { $0.mirror = mirror }
        try set("a", in: file)
        #expect(try PropertyListCoder.decode(bytes()).format == (isThere ? .binary : .plainXML))
        try file.transact(durability: .process) { $0.replace("odd", with: .string("\0")) }
        let list = try PropertyListCoder.decode(bytes())
        content["a"] = "x"
        content["odd"] = "\0"
        #expect(list.format == .binary && StoredValue.areEqual(list.value.object, content))
        #expect(try StoredValue.areEqual(file.read().content?.objects ?? [:], content))
    }

    /// The store that keeps the text comes after another one has read the file, or has written it.
    @Test(arguments: [true, false], [true, false])
    func theTextIsKeptFromTheFirstStoreThatAsksForIt(_ isRead: Bool, _ isWritten: Bool) throws {
        let text = String(
            decoding: try PropertyListCoder.encode(plain: ["a": "y", "z": "y"], as: .plainXML), as: UTF8.self)
        try Data(text.replacing("<dict>", with: "<dict>\n<!-- by hand -->").utf8).write(to: folder.file())
        let file = file()
        if isRead { #expect(try file.read().content?.count == 2) }
        if isWritten {
            try set("a", in: file)
            // The other store has no words for it, and a person writes it again.
            let written = String(decoding: try bytes(), as: UTF8.self)
            try Data(written.replacing("<dict>", with: "<dict>\n<!-- by hand -->").utf8).write(to: folder.file())
            #expect(try file.read().content?.count == 2)
        }
        file.setRules { $0.formatOfNewFile = .xml }
        try set("z", in: file)
        #expect(try String(decoding: bytes(), as: UTF8.self).contains("<!-- by hand -->"))
        let values = ["a": isWritten ? "x" : "y", "z": "x"]
        #expect(try PropertyListCoder.decode(bytes()).value.object as? [String: String] == values)
    }

    /// It will be stored, because the file becomes binary.
    @Test func inABatchAValueThatXMLCannotHoldIsAccepted() throws {
        try writePropertyList(["theirs": 1], to: folder.file(), as: .xml)
        let values: [String: StoredValue] = ["theirs": .integer(1), "odd": .string("a\0b")]
        let file = file()
        file.setRules { $0.mirror = mirror }
        let session = try file.begin()
        #expect(try session.vet(values, after: session.content, beside: 0) > 0)
        session.end()
        // Any other file stays XML.
        let other = try self.file().begin()
        #expect(throws: FileError.self) { try other.vet(values, after: other.content, beside: 0) }
        other.end()
    }

    /// A store that keeps the text of XML does not make the file one that people write.
    @Test func aMalformedTextOfADomainIsDamage() throws {
        let file = file()
        file.setRules {
            $0.mirror = mirror
            $0.formatOfNewFile = .xml
        }
        try set("a", in: file)
        #expect(try PropertyListCoder.decode(bytes()).format.isXML)
        let typo = Data("<plist><dict><key>a</dict></plist>".utf8)
        try typo.write(to: folder.file())
        try set("b", in: file)
        #expect(try file.read().content?.objects as? [String: String] == ["a": "x", "b": "x"])
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [typo])
    }

    /// UserDefaults removes the file of a domain without entries. The copy would bring the entries back.
    @Test func theCopyOfADomainThatUserDefaultsHasEmptiedIsRemoved() throws {
        let (file, path) = (file(), folder.file().path)
        file.setRules { $0.mirror = mirror }
        try set("a", in: file)
        file.setRules {
            $0.mirror = FileRules.DefaultsMirror(willChange: { unlink(path) }, didChange: {}, note: { _ in })
        }
        try file.transact(durability: .process) { _ in }
        #expect(try folder.names() == [".test.plist.lock"])
        #expect(try self.file().read().content == nil && file.read().content == nil)
        #expect(file.takeWarning() == nil)
    }

    /// The undo of the write that has made the file.
    @Test func anUndoThatRemovesTheFileIsToldToUserDefaults() throws {
        let (path, heard) = (folder.file().path, Heard<String>())
        let mirror = FileRules.DefaultsMirror(
            willChange: { heard.append("will") }, didChange: { heard.append(access(path, F_OK) == 0 ? "did" : "gone") },
            note: { heard.append($0?.keys.sorted().joined() ?? "nothing") })
        let location = FileLocation(path: path, system: RecordingSystemCalls()) { $0.mirror = mirror }
        try location.transact(durability: .process) { $0.replace("a", with: .bool(true)) }
        #expect(heard.all == ["will", "nothing", "did", "a"])
        try location.revert(FileReplacement(path: path, before: nil, after: FileBytes(bytes())))
        #expect(heard.all.dropFirst(4) == ["will", "gone", "nothing"])
    }

    /// The values that a store with the format JSON has written, before the file was known to belong to a domain, are
    /// not lost: this process knows them. Another process reads property lists only, and quarantines the file.
    @Test(arguments: [false, true]) func jsonBecomesAPropertyListAgain(_ isSameProcess: Bool) throws {
        var file = file()
        file.setRules { $0.formatOfNewFile = .json }
        try set("a", in: file)
        let json = try bytes()
        #expect(json.starts(with: "{".utf8))
        if !isSameProcess { file = self.file() }
        file.setRules { $0.mirror = mirror }
        let reading = try file.read()
        #expect(reading.content?.objects as? [String: String] == (isSameProcess ? ["a": "x"] : nil))
        #expect(reading.warning?.text.hasPrefix("damaged: ") == true)
        #expect(reading.warning?.report?.reason == "is text that begins with {, not a property list")
        try set("b", in: file)
        let list = try PropertyListCoder.decode(bytes())
        #expect(list.format == .binary)
        #expect(list.value.object as? [String: String] == (isSameProcess ? ["a": "x", "b": "x"] : ["b": "x"]))
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [json])
    }
}

extension PropertyListFile {
    fileprivate func transact(durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
        try queue.transact(durability: durability, begin: begin, body)
    }
}
