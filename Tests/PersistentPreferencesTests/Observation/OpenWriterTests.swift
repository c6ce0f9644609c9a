@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// A program that writes the file in place and keeps it open.
@Suite struct OpenWriterTests {
    private let folder = TemporaryFolder.fresh

    private func prefs(_ system: RecordingSystemCalls) -> AnyPrefs {
        let prefs = folder.observedPrefs("test.plist", system)
        prefs["a"] = 1
        return prefs
    }

    @Test(arguments: Watcher.allCases)
    func eachWriteIsReportedBeforeTheFileIsClosed(_ watcher: Watcher) throws {
        let prefs = prefs(RecordingSystemCalls(watcher))
        let listener = Listener(prefs)
        let handle = try FileHandle(forWritingTo: folder.file())
        for number in 2...20 {
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: PropertyListCoder.encode(plain: ["Root": ["a": number]], as: .binary))
            #expect(listener.heard.wait(for: number - 1).last == "Root a: \(number - 1) → \(number) elsewhere")
        }
        try handle.close()
        #expect(listener.take().count == 19)
    }

    /// A read waits for the rest of an incomplete file if that changed within the last second, and otherwise does not.
    @Test(arguments: [true, false], Watcher.allCases)
    func halfOfAWriteIsNotReported(_ isYoung: Bool, _ watcher: Watcher) throws {
        let system = RecordingSystemCalls(watcher)
        let prefs = prefs(system)
        system.isClockAhead = !isYoung
        let listener = Listener(prefs)
        let bytes = try PropertyListCoder.encode(plain: ["Root": ["a": 2, "b": 3]], as: .xml)
        let calls = Heard<String>()
        system.onCall = { name throws(StorageFailure) in calls.append(name) }
        let handle = try FileHandle(forWritingTo: folder.file())
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: bytes.prefix(bytes.count / 2))
        // The observer has read the incomplete file.
        calls.wait { $0.contains("read") }
        try handle.write(contentsOf: bytes.suffix(from: bytes.count / 2))
        #expect(listener.heard.wait(for: 1) == ["Root a: 1 → 2, b: - → 3 elsewhere"])
        try handle.close()
        #expect(listener.take() == ["Root a: 1 → 2, b: - → 3 elsewhere"])
        system.onCall = nil
    }
}
