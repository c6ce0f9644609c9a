import Foundation
import PropertyListSupport
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsFileEngine
@testable import PrefsJSON
@testable import PrefsPropertyLists

/// A malformed file that changes: nothing in its bytes tells whether another program is saving it.
extension PresenceTests {
    static let formats: [FileFormat] = [.json, .plainXML, .binary]
    private static let saved = ["a": 5, "b": 2, "c": 7]

    private func bytes(_ ints: [String: Int], as format: FileFormat) throws -> Data {
        try PropertyListCoder.encode(plain: ["Root": ints], as: format)
    }

    /// Another program writes the bytes now.
    private func put(_ bytes: Data) throws {
        clock.stamp = clock.elapsed
        try write(bytes)
    }

    private func root(_ format: FileFormat) -> FileRoot {
        FileRoot(folder.file().path, format: format, system: clock)
    }

    /// A file as the last good copy or a person has left it.
    private func make(_ format: FileFormat, hasCopy: Bool) throws {
        FileRoot(folder.file().path, format: format, system: SystemCalls()).values = Self.known
        if !hasCopy { try FileManager.default.removeItem(at: folder.file(".test.plist.lastgood")) }
    }

    /// A program that knows the file; nothing has happened for ten seconds.
    private func reader(_ format: FileFormat, hasCopy: Bool) throws -> FileRoot {
        try make(format, hasCopy: hasCopy)
        let prefs = root(format)
        #expect(prefs.ints == Self.known)
        pass(.seconds(10))
        return prefs
    }

    private func values(_ format: FileFormat) throws -> [String: Int]? {
        let list = try PropertyListCoder.decode(Data(contentsOf: folder.file()), as: [format])
        return list.value.dictionary?["Root"]?.dictionary?.objects as? [String: Int]
    }

    // MARK: - Size first

    /// Zeros of the full size, then a half, then all.
    @Test(arguments: formats, [true, false]) func aFileThatGetsItsSizeFirst(_ format: FileFormat, hasCopy: Bool) throws
    {
        let prefs = try reader(format, hasCopy: hasCopy)
        let saved = try bytes(Self.saved, as: format)
        for isUpdate in [false, true] {
            let known = prefs.ints
            try put(Data(count: saved.count))
            for _ in 0..<10 {
                #expect(prefs.ints == known && prefs.outcome == "ok")
                pass(.milliseconds(10))
            }
            clock.pauses = 0
            clock.onPause = { [unowned self] in
                #expect(clock.locks == 0)
                let half = saved.count / 2
                #expect(throws: Never.self) {
                    if clock.pauses == 30 { try put(saved.prefix(half) + Data(count: saved.count - half)) }
                    if clock.pauses == 60 { try put(saved) }
                }
            }
            if isUpdate { prefs.update { prefs["d"] = 1 } } else { prefs["d"] = 1 }
            #expect(prefs.outcome == "ok" && prefs.errors.isEmpty && clock.pauses == 65)
            #expect(try values(format) == Self.saved.merging(["d": 1]) { $1 })
            #expect(try folder.quarantined == [])
            pass(.seconds(10))
        }
    }

    /// After half a second, they are what a crash has left.
    @Test(arguments: formats, [true, false]) func zerosAreDamageInTheEnd(_ format: FileFormat, hasCopy: Bool) throws {
        let prefs = try reader(format, hasCopy: hasCopy)
        let zeros = Data(count: 100)
        try put(zeros)
        for time in [499, 1] {
            #expect(prefs.ints == Self.known && prefs.outcome == "ok")
            pass(.milliseconds(time))
        }
        #expect(prefs.ints == Self.known && prefs.outcome.hasPrefix(hasCopy ? "damaged: " : "not ours: "))
        prefs["d"] = 1
        #expect(clock.pauses == 0)
        if hasCopy {
            #expect(prefs.outcome.hasPrefix("quarantined: "))
            #expect(try values(format) == Self.known.merging(["d": 1]) { $1 })
            #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [zeros])
        } else {
            #expect(prefs.outcome.hasPrefix("not ours: "))
            #expect(try Data(contentsOf: folder.file()) == zeros && folder.quarantined == [])
        }
    }

    // MARK: - Changes without an end

    /// A change every 400 ms, and a read every 10 ms. It is silent for a second in all, and again after the file was whole,
    /// or did not change for half a second.
    @Test(arguments: [true, false], ["whole", "quiet"])
    func aMalformedFileThatChangesWithoutAnEnd(_ hasCopy: Bool, _ end: String) throws {
        let prefs = try reader(.plainXML, hasCopy: hasCopy)
        var time = 0
        func read(until last: Int, isSilent: (Int) -> Bool) {
            while time < last {
                #expect(
                    prefs.ints == Self.known && (prefs.outcome == "ok") == isSilent(time), "\(time): \(prefs.outcome)")
                pass(.milliseconds(10))
                time += 10
            }
        }
        for number in 0..<8 {
            try put(Data("mess \(number)".utf8))
            read(until: 400 * (number + 1)) { $0 < 1_000 }
        }
        // The last change was 400 ms ago.
        try put(Data("the last mess".utf8))
        if end == "whole" {
            read(until: time + 100) { _ in false }
            try complete(Self.known)
            read(until: time + 10) { _ in true }
        } else {
            read(until: time + 600) { _ in false }
        }
        let start = time
        for number in 0..<4 {
            try put(Data("mess again \(number)".utf8))
            read(until: time + 400) { $0 < start + 1_000 }
        }
    }

    /// Half a second that nobody has looked at is no quiet one.
    @Test func aQuietTimeHasToBeSeen() throws {
        let prefs = try reader(.plainXML, hasCopy: true)
        for number in 0..<100 {
            try put(Data("mess \(number)".utf8))
            #expect((prefs.ints == Self.known && prefs.outcome == "ok") == (number < 3), "\(number)")
            pass(.milliseconds(400))
        }
        pass(.milliseconds(600))
        try put(Data("mess".utf8))
        #expect(prefs.outcome != "ok")
    }

    /// What it has not seen does not count: each look counts for 50 ms.
    @Test func aProcessThatLooksOnceInTenSeconds() throws {
        let prefs = try reader(.plainXML, hasCopy: true)
        for look in 1...60 {
            try put(Data("mess \(look)".utf8))
            pass(.milliseconds(100))
            #expect(prefs.ints == Self.known && (prefs.outcome == "ok") == (look <= 20), "\(look)")
            pass(.milliseconds(9_900))
        }
        try complete()
        #expect(prefs.ints == Self.saved && prefs.outcome == "ok")
        try put(Data("mess".utf8))
        #expect(prefs.ints == Self.saved && prefs.outcome == "ok")
    }

    @Test func aWriteWaitsForChangesWithoutAnEndForASecond() throws {
        let prefs = try reader(.plainXML, hasCopy: true)
        try put(Data("mess".utf8))
        clock.onPause = { [unowned self] in
            guard clock.pauses.isMultiple(of: 40) else { return }
            #expect(throws: Never.self) { try put(Data("mess \(clock.pauses)".utf8)) }
        }
        prefs["d"] = 1
        #expect(clock.pauses == 100 && prefs.ints == Self.known.merging(["d": 1]) { $1 })
        #expect(try folder.quarantined.map { try Data(contentsOf: folder.file($0)) } == [Data("mess 80".utf8)])
    }

    // MARK: - The first look

    private static let typos = [
        FileFormat.json: "{\"Root\": {\"a\": 1,, \"b\": 2}}", .plainXML: "<plist><dict><key>Root</dict>",
    ]

    /// A process that starts beside a mistake waits only for the rest of its half second. A server has another clock.
    @Test(arguments: [FileFormat.json, .plainXML], [true, false])
    func theFirstLookBesideAMistake(_ format: FileFormat, hasCopy: Bool) throws {
        let typo = Data(try #require(Self.typos[format]).utf8)
        try make(format, hasCopy: hasCopy)
        for (age, isServer, pauses) in [
            (86_400_000, false, 0), (100, false, 40), (0, false, 50), (86_400_000, true, 50),
        ] {
            try put(typo)
            pass(.milliseconds(age))
            clock.isServer = isServer
            clock.pauses = 0
            let prefs = root(format)
            #expect(clock.pauses == pauses, "\(age) ms ago")
            for _ in 0..<3 {
                #expect(prefs.ints == (hasCopy ? Self.known : [:]))
                #expect(prefs.outcome.hasPrefix(hasCopy ? "damaged: " : "not ours: "), "\(prefs.outcome)")
                pass(.seconds(1))
            }
            #expect(clock.pauses == pauses)
        }
    }

    /// A stamp in the future says that the clock was set back: the mistake was made long ago.
    @Test(arguments: [(20, 50), (21, 0)]) func aMistakeInTheFuture(_ ahead: Int, _ pauses: Int) throws {
        try make(.plainXML, hasCopy: true)
        try put(Data("mess".utf8))
        clock.stamp += .milliseconds(ahead)
        #expect(root(.plainXML).ints == Self.known && clock.pauses == pauses)
    }

    // MARK: - Other signs

    /// A write that fails gives the file a second name for a moment. That changes its status, and not its bytes.
    @Test func aFailedQuarantineIsNoSave() throws {
        let prefs = try reader(.plainXML, hasCopy: true)
        try put(Data("mess".utf8))
        clock.statusStamp = clock.elapsed
        pass(.milliseconds(600))
        #expect(prefs.ints == Self.known && prefs.outcome.hasPrefix("damaged: "))
        clock.renameFault = EIO
        clock.statusStamp = clock.elapsed
        prefs["d"] = 1
        #expect(prefs.outcome == "not stored: \(folder.file().path): rename: Input/output error")
        #expect(try folder.quarantined == [] && clock.pauses == 0)
        pass(.milliseconds(10))
        #expect(prefs.ints == Self.known && prefs.outcome.hasPrefix("damaged: "))
        prefs["d"] = 1
        #expect(try clock.pauses == 0 && prefs.outcome.hasPrefix("quarantined: ") && folder.quarantined.count == 1)
    }

    /// A program of this package writes the copy just after it has replaced the file, which is then whole: the file may
    /// have been damaged long ago. A torn copy that is older than the damage says nothing.
    @Test(arguments: [(400, 900), (1, 501), (0, 500), (-1, 500)])
    func aTornCopyThatIsYoungerThanTheDamage(_ younger: Int, _ window: Int) throws {
        let prefs = try reader(.plainXML, hasCopy: true)
        let copy = folder.file(".test.plist.lastgood")
        clock.copyStamp = clock.elapsed + .milliseconds(younger)
        try put(Data("mess".utf8))
        try Data(contentsOf: copy).dropLast(5).write(to: copy)
        for time in 0..<1_000 {
            #expect(prefs.ints == Self.known && (prefs.outcome == "ok") == (time < window), "\(time)")
            pass(.milliseconds(1))
        }
        #expect(prefs.outcome.hasPrefix("damaged: ") && clock.pauses == 0)
    }
}
