import Foundation
import PrefsDocuments
import PropertyListSupport
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// A file without content is what a crash leaves. In every format its last good copy is read, and a write starts from it and
/// keeps it. Without a copy, the file is missing.
@Suite final class EmptiedFileTests: FolderSuite {
    private let clock = PresenceClock()

    static let formats: [FileFormat] = [.binary, .plainXML, .json, .xml]
    private static let known = ["a": 1, "b": 2]
    private static let missing = ["test.plist.corrupt-missing"]
    private var path: String { folder.file().path }

    /// A program that starts now.
    private func root(_ format: FileFormat) -> FileRoot { FileRoot(path, format: format, system: clock) }

    /// A file and its copy of the 40th second.
    private func make(_ format: FileFormat) {
        clock.stamp = .seconds(40)
        clock.copyStamp = .seconds(40)
        FileRoot(path, format: format, system: SystemCalls()).values = Self.known
    }

    private func copy() throws -> Data { try Data(contentsOf: folder.file(".test.plist.lastgood")) }

    /// A crash, or another program, empties the file, which nobody has looked at for ten seconds.
    private func empty(_ text: String = "", secondsAgo: Int = 6) throws {
        clock.elapsed += .seconds(10)
        clock.stamp = clock.elapsed - .seconds(secondsAgo)
        try Data(text.utf8).write(to: folder.file())
    }

    private func values(_ bytes: Data, _ format: FileFormat) throws -> [String: Int]? {
        let list = try PropertyListCoder.decode(bytes, as: [format])
        return list.value.dictionary?["Root"]?.dictionary?.objects as? [String: Int]
    }

    /// What is in the file, and what is kept of its former state.
    private func expect(_ ints: [String: Int]?, kept: Data?, _ format: FileFormat) throws {
        #expect(try values(Data(contentsOf: folder.file()), format) == ints)
        #expect(try folder.quarantined == (kept == nil ? [] : Self.missing))
        if let kept { #expect(try Data(contentsOf: folder.file(Self.missing[0])) == kept) }
    }

    /// A program that knows a state, and one that does not.
    @Test(arguments: formats, [("", true), ("", false), (" \n", true), (" \n", false)])
    func aReadGivesTheCopyAndSaysSo(_ format: FileFormat, _ test: (text: String, isNew: Bool)) throws {
        make(format)
        var prefs = test.isNew ? nil : root(format)
        try empty(test.text)
        let names = try folder.names()
        prefs = prefs ?? root(format)
        for _ in 0..<2 {
            #expect(prefs?.ints == Self.known)
            #expect(prefs?.outcome == "damaged: \(path): is empty, and had values before")
            let report = try #require(prefs?.lastError?.report)
            let date = Date(timeIntervalSince1970: 1_000_000_040)
            switch report.state {
            case .lastGoodCopy(let found) where test.isNew: #expect(abs(found.timeIntervalSince(date)) < 0.001)
            case let state: #expect(!test.isNew && state == .lastKnown)
            }
            #expect(report.isEmptied && report.quarantinedAs == nil)
        }
        #expect(try folder.names() == names && Data(contentsOf: folder.file()) == Data(test.text.utf8))
        #expect(clock.pauses == 0)
    }

    @Test(arguments: formats, [true, false])
    func aWriteStartsFromTheCopyAndKeepsIt(_ format: FileFormat, isNew: Bool) throws {
        make(format)
        var prefs = isNew ? nil : root(format)
        let copy = try copy()
        try empty()
        prefs = prefs ?? root(format)
        prefs?["d"] = 1
        let name = folder.file(Self.missing[0]).path
        #expect(prefs?.outcome == "quarantined: \(path): was empty, and its last good copy was there")
        #expect(prefs?.lastError?.report?.quarantinedAs == name)
        #expect((prefs?.lastError?.report?.state == .lastKnown) == !isNew)
        try expect(["a": 1, "b": 2, "d": 1], kept: copy, format)
        prefs?["d"] = 2
        #expect(prefs?.outcome == "ok" && clock.pauses == 0, "told once")
    }

    /// An update, and a value that the copy has.
    @Test(arguments: formats) func anUpdateStartsFromTheCopyToo(_ format: FileFormat) throws {
        make(format)
        let copy = try copy()
        for isUpdate in [false, true] {
            try empty()
            let prefs = root(format)
            if isUpdate { prefs.update { prefs["a"] = 1 } } else { prefs["a"] = 1 }
            #expect(prefs.lastError?.isWarning == true)
            try expect(Self.known, kept: copy, format)
        }
    }

    /// Five seconds long, a person's program may be writing a text.
    @Test(arguments: formats) func aYoungEmptyFile(_ format: FileFormat) throws {
        make(format)
        let copy = try copy()
        try empty(secondsAgo: 0)
        let prefs = root(format)
        #expect(clock.pauses == 50 && prefs.ints == Self.known)
        // The first bytes of a list say what it is, and an empty one has none.
        let isForPeople = format == .json
        let reason = isForPeople ? "is empty; another program may be writing it" : "is empty, and had values before"
        #expect(prefs.outcome == "damaged: \(path): \(reason)")
        prefs["d"] = 1
        #expect(prefs.lastError?.isWarning == !isForPeople && clock.pauses == 50)
        if isForPeople {
            #expect(try Data(contentsOf: folder.file()) == Data() && folder.quarantined == [])
            clock.elapsed += .milliseconds(4_499)
            #expect(prefs.ints == Self.known && prefs.outcome == "damaged: \(path): \(reason)")
            clock.elapsed += .milliseconds(1)
            #expect(prefs.ints == Self.known)
            #expect(prefs.outcome == "damaged: \(path): is empty, and had values before")
            prefs["d"] = 1
        }
        try expect(["a": 1, "b": 2, "d": 1], kept: copy, format)
    }

    // MARK: - The newest state

    /// Another program has changed the file after the last commit, and this process has read it.
    @Test(arguments: formats) func aNewerStateThatTheProcessKnewIsKept(_ format: FileFormat) throws {
        make(format)
        let bytes = try PropertyListCoder.encode(plain: ["Root": ["a": 7]], as: format)
        clock.stamp = .seconds(60)
        try bytes.write(to: folder.file())
        let prefs = root(format)
        #expect(prefs.ints == ["a": 7])
        try empty()
        #expect(prefs.ints == ["a": 7] && prefs.lastError?.report?.state == .lastKnown)
        prefs["d"] = 1
        #expect(prefs.outcome == "quarantined: \(path): was empty, and had values before")
        let kept = try Data(contentsOf: folder.file(Self.missing[0]))
        #expect(try values(CheckedCopy.bytes(of: kept), format) == ["a": 7])
        try expect(["a": 7, "d": 1], kept: kept, format)
    }

    /// Another process has stored a state after this one has read the file.
    @Test(arguments: formats) func theCopyOfALaterCommitIsReadAndKept(_ format: FileFormat) throws {
        make(format)
        let prefs = root(format)
        FileRoot(path, format: format, system: SystemCalls()).values = ["a": 8]
        clock.copyStamp = .seconds(70)
        let copy = try copy()
        try empty()
        #expect(prefs.ints == ["a": 8])
        prefs["d"] = 1
        #expect(prefs.outcome == "quarantined: \(path): was empty, and its last good copy was there")
        try expect(["a": 8, "d": 1], kept: copy, format)
    }

    // MARK: - Without a good copy

    /// A crash may have torn it, too. It is kept, because a person may find something in it.
    @Test(arguments: formats, [true, false]) func aDamagedCopy(_ format: FileFormat, isNew: Bool) throws {
        make(format)
        var prefs = isNew ? nil : root(format)
        let torn = try copy().dropLast(3)
        try torn.write(to: folder.file(".test.plist.lastgood"))
        try empty()
        prefs = prefs ?? root(format)
        #expect(prefs?.ints == (isNew ? [:] : Self.known))
        #expect(prefs?.outcome == "damaged: \(path): is empty, and had values before")
        #expect(prefs?.lastError?.report?.state == (isNew ? .nothing : .lastKnown))
        prefs?["d"] = 1
        #expect(prefs?.lastError?.isWarning == true)
        let kept = try Data(contentsOf: folder.file(Self.missing[0]))
        if isNew {
            #expect(kept == torn)
        } else {
            #expect(try values(CheckedCopy.bytes(of: kept), format) == Self.known)
        }
        try expect((isNew ? [:] : Self.known).merging(["d": 1]) { $1 }, kept: kept, format)
    }

    @Test(arguments: formats, [true, false]) func withoutACopyItIsMissing(_ format: FileFormat, isNew: Bool) throws {
        make(format)
        var prefs = isNew ? nil : root(format)
        try FileManager.default.removeItem(at: folder.file(".test.plist.lastgood"))
        try empty()
        prefs = prefs ?? root(format)
        let isTold = !isNew && format == .json
        #expect(prefs?.ints == [:])
        #expect(prefs?.outcome == (isTold ? "damaged: \(path): is empty, and had values before" : "ok"))
        #expect(prefs?.ints == [:] && prefs?.outcome == "ok", "told once")
        prefs?["d"] = 1
        #expect((prefs?.lastError?.isWarning == true) == !isNew)
        let kept = isNew ? nil : try Data(contentsOf: folder.file(Self.missing[0]))
        if let kept { #expect(try values(CheckedCopy.bytes(of: kept), format) == Self.known) }
        try expect(["d": 1], kept: kept, format)
    }

    // MARK: - Writes

    @Test(arguments: formats, ["the copy", "the known state"])
    func aFailedWriteLeavesEverything(_ format: FileFormat, kept: String) throws {
        make(format)
        if kept == "the known state" {
            clock.stamp = .seconds(60)
            try PropertyListCoder.encode(plain: ["Root": ["a": 7]], as: format).write(to: folder.file())
        }
        let (prefs, copy) = (root(format), try copy())
        let known = prefs.ints
        try empty()
        let names = try folder.names()
        clock.renameFault = EIO
        prefs["d"] = 1
        #expect(prefs.outcome == "not stored: \(path): rename: Input/output error")
        #expect(try folder.names() == names && self.copy() == copy && Data(contentsOf: folder.file()) == Data())
        #expect(prefs.ints == known)
        prefs["d"] = 1
        #expect(prefs.lastError?.isWarning == true && prefs.ints == known.merging(["d": 1]) { $1 })
        #expect(try folder.quarantined == Self.missing)
    }

    /// One copy is kept, that of the last time.
    @Test(arguments: formats) func aSecondEmptying(_ format: FileFormat) throws {
        make(format)
        let prefs = root(format)
        for number in 1...3 {
            let copy = try copy()
            try empty()
            prefs["a"] = 10 * number
            #expect(prefs.lastError?.isWarning == true)
            try expect(["a": 10 * number, "b": 2], kept: copy, format)
            #expect(try values(CheckedCopy.bytes(of: self.copy()), format) == ["a": 10 * number, "b": 2])
        }
        // Another program that knows nothing.
        let copy = try copy()
        try empty()
        root(format)["a"] = 0
        try expect(["a": 0, "b": 2], kept: copy, format)
    }

    /// The file of a UserDefaults domain. UserDefaults is not called before the file has values again: it would write over it.
    @Test(arguments: [FileFormat.binary, .plainXML], [true, false])
    func aDomainOfUserDefaults(_ format: FileFormat, hasCopy: Bool) throws {
        make(format)
        let copy = try copy()
        if !hasCopy { try FileManager.default.removeItem(at: folder.file(".test.plist.lastgood")) }
        try empty()
        nonisolated(unsafe) var calls: [String] = []
        let location = FileLocation(path: path, system: clock) {
            $0.mirror = FileRules.DefaultsMirror(
                willChange: { calls.append("will") }, didChange: { calls.append("did") }, note: { _ in })
        }
        let reading = try location.read()
        #expect((reading.content != nil) == hasCopy)
        #expect(reading.warning?.text == (hasCopy ? "damaged: \(path): is empty, and had values before" : nil))
        try location.transact(durability: .process) { $0.replace("other", with: .integer(1)) }
        #expect(calls == (hasCopy ? ["did"] : ["will", "did"]))
        let warning = location.takeWarning()?.text
        #expect(warning == (hasCopy ? "quarantined: \(path): was empty, and its last good copy was there" : nil))
        let ints = try location.read().content?["Root"]?.dictionary?.objects as? [String: Int]
        #expect(ints == (hasCopy ? Self.known : nil))
        #expect(try PropertyListCoder.decode(Data(contentsOf: folder.file())).format == (hasCopy ? format : .binary))
        #expect(try folder.quarantined == (hasCopy ? Self.missing : []))
        if hasCopy { #expect(try Data(contentsOf: folder.file(Self.missing[0])) == copy) }
        #expect(clock.pauses == 0)
    }

    /// A file of one value that is removed.
    @Test func theRemovalOfAnEmptiedFileKeepsOneCopy() throws {
        let location = FileLocation(path: path, holds: .document, system: clock)
        func store(_ number: Int64?) throws {
            try location.transact(durability: .process) {
                $0.replace(TopLevel.documentKey, with: number.map(StoredValue.integer))
            }
        }
        clock.copyStamp = .seconds(40)
        for number in 1...2 {
            try store(Int64(number))
            let copy = try copy()
            try empty()
            try store(nil)
            #expect(location.takeWarning()?.report?.quarantinedAs == folder.file(Self.missing[0]).path)
            #expect(try folder.names() == [".test.plist.lock", Self.missing[0]])
            #expect(try Data(contentsOf: folder.file(Self.missing[0])) == copy)
        }
    }

    /// The tool's undo restores what was known, and not the empty file.
    @Test(arguments: formats) func theUndoOfAWriteRestoresTheCopy(_ format: FileFormat) throws {
        make(format)
        let copy = try copy()
        try empty()
        let prefs = root(format)
        nonisolated(unsafe) var replaced: [FileReplacement] = []
        ToolHook.$current.withValue(ToolHook(committed: { replaced.append($0) })) { prefs["d"] = 1 }
        #expect(try replaced.map(\.before) == [CheckedCopy.bytes(of: copy)])
    }
}
