@testable import PrefsSupport
import EngineSupport
import Foundation
import PersistentPreferences
import TestSupport
import Testing
import PrefsSettingsFiles

/// Lets another program write while the type is coded, once.
private enum Interruptions {
    @TaskLocal static var onDecode: Interruption?
    @TaskLocal static var onEncode: Interruption?
}

/// Does not implement initial values, so the values of its first load are kept beside the file.
private struct Interrupted: HeardSettings, Equatable {
    var number = 1
    var text = "none"

    private enum CodingKeys: CodingKey { case number, text }

    init(number: Int = 1, text: String = "none") {
        (self.number, self.text) = (number, text)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        number = try container.decode(Int.self, forKey: .number)
        text = try container.decode(String.self, forKey: .text)
        try Interruptions.onDecode?.runOnce()
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
        try container.encode(text, forKey: .text)
        try Interruptions.onEncode?.runOnce()
    }

    static var settingsURL: URL { SettingsPlace.file("Interrupted.plist") }
}

/// Writes of another program to a settings file in the middle of an access, between the read and the commit.
@Suite(.inSettingsPlace) struct SettingsRaceTests {
    private func stored() throws -> NSDictionary {
        try propertyList(at: SettingsPlace.file("Interrupted.plist")) as NSDictionary
    }

    private func write(_ values: [String: Any], suffix: String = "") throws {
        try PrefsSettingsFilesTests.write(values, for: Interrupted(), suffix: suffix)
    }

    @Test func unknownFieldsThatAreWrittenDuringASaveArePreserved() throws {
        try write(["number": 1, "text": "a", "early": 1])
        let late = Interruption { try write(["number": 1, "text": "a", "late": [1, 2]]) }
        try Interruptions.$onDecode.withValue(late) { try Interrupted(number: 2, text: "a").trySave() }
        #expect(try stored() == ["number": 2, "text": "a", "late": [1, 2]])
    }

    /// Another program or a save creates the file before the load has encoded its initial values.
    @Test(arguments: [false, true]) func aFileThatIsMadeDuringTheFirstLoadIsLoaded(_ isSaved: Bool) throws {
        var settings = Interrupted()
        let theirs = Interrupted(number: 42, text: "theirs")
        let other = Interruption {
            if isSaved { try theirs.trySave() } else { try write(["number": 42, "text": "theirs"]) }
        }
        try Interruptions.$onEncode.withValue(other) { try settings.tryLoad() }
        #expect(settings == theirs)
        #expect(try stored() == ["number": 42, "text": "theirs"])
    }

    /// Another process keeps the initial values in the meantime. A reset restores these.
    @Test func initialValuesThatAreKeptDuringTheFirstLoadStay() throws {
        var settings = Interrupted()
        let other = Interruption { try write(["number": 42, "text": "theirs"], suffix: ".init") }
        try Interruptions.$onEncode.withValue(other) { try settings.tryLoad() }
        succeeds(settings.reset())
        #expect(settings == Interrupted(number: 42, text: "theirs"))
        #expect(try stored() == ["number": 42, "text": "theirs"])
    }

    /// Each load and save checks the file, although it stays open.
    @Test func eachAccessReadsTheFileAgain() throws {
        var settings = Interrupted()
        for number in 1...5 {
            try write(["number": number, "text": "a"])
            for _ in 0..<2 {
                try settings.tryLoad()
                #expect(settings == Interrupted(number: number, text: "a"))
                #expect(settings.toDictionary()?["number"] as? Int == number)
            }
        }
        try FileManager.default.removeItem(at: SettingsPlace.file("Interrupted.plist"))
        expectEventually(settings.toDictionary(), "nothing") { $0 == nil }
        #expect(told { settings.delete() }.hasSuffix("Interrupted.plist: the file does not exist"))
    }
}
