@testable import PrefsSupport
import Foundation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// Changes outside of the engine: by an editor, by `plutil`, or of a link. This process does not read in between.
@Suite(.waits) struct ForeignChangeTests {
    private let folder = TemporaryFolder.fresh

    private func prefs(_ url: URL, _ system: SystemCalls) -> AnyPrefs {
        PrefsStore.propertyList(url: url, durability: .crash, system: system).observedPrefs()
    }

    private func write(_ values: [String: Any], to url: URL) throws {
        try writePropertyList(["Root": values], to: url)
    }

    /// Replaces the file by a new one, as an editor does.
    private func replace(_ url: URL, with values: [String: Any]) throws {
        let new = url.appendingPathExtension("new")
        try write(values, to: new)
        #expect(rename(new.path, url.path) == 0)
    }

    private func link(_ url: URL, to target: String) {
        let new = url.path + ".link"
        #expect(symlink(target, new) == 0)
        #expect(rename(new, url.path) == 0)
    }

    /// The ways in which another program changes `a` from 1 to 2.
    enum Manner: CaseIterable {
        case replaced, writtenInPlace, editedInTwoSteps, removedAndMade, folderRemovedAndMade, folderMovedAndMade,
            turnedIntoXML, turnedIntoLink
    }

    @Test(arguments: Manner.allCases, Watcher.allCases)
    func isReportedOnce(_ manner: Manner, _ watcher: Watcher) throws {
        let system = WatchedSystemCalls(watcher)
        // Two steps are one change if the second comes soon, so a slow machine must repeat.
        for attempt in 0..<100 {
            let url = folder.file("\(attempt)/test.plist")
            let prefs = prefs(url, system)
            prefs["a"] = 1
            let listener = Listener(prefs)
            let time = try ContinuousClock().measure { try change(manner, url, folder.file("aside \(attempt)")) }
            listener.heard.wait { $0.last?.hasSuffix("→ 2 elsewhere") == true }
            // A change of this process follows, at the current place.
            prefs["a"] = 3
            let heard = listener.take()
            if heard.count == 3, time > .milliseconds(50) { continue }
            #expect(heard == ["Root a: 1 → 2 elsewhere", "Root a: 2 → 3"])
            return
        }
    }

    private func change(_ manner: Manner, _ url: URL, _ aside: URL) throws {
        switch manner {
        case .replaced: try replace(url, with: ["a": 2])
        case .writtenInPlace: try write(["a": 2], to: url)
        case .editedInTwoSteps:
            #expect(rename(url.path, aside.path) == 0)
            try write(["a": 2], to: url)
        case .removedAndMade:
            try FileManager.default.removeItem(at: url)
            try replace(url, with: ["a": 2])
        case .folderRemovedAndMade:
            let home = url.deletingLastPathComponent()
            try FileManager.default.removeItem(at: home)
            #expect(mkdir(home.path, 0o700) == 0)
            try replace(url, with: ["a": 2])
        case .folderMovedAndMade:
            let home = url.deletingLastPathComponent()
            #expect(rename(home.path, aside.path) == 0)
            #expect(mkdir(home.path, 0o700) == 0)
            try replace(url, with: ["a": 2])
        case .turnedIntoXML: try writePropertyList(["Root": ["a": 2]], to: url, as: .xml)
        case .turnedIntoLink:
            try write(["a": 2], to: aside)
            link(url, to: aside.path)
        }
    }

    /// A foreign change that a write finds under the lock is reported first.
    @Test(arguments: Watcher.allCases)
    func aForeignChangeIsReportedBeforeTheNextCommit(_ watcher: Watcher) throws {
        let prefs = prefs(folder.file(), WatchedSystemCalls(watcher))
        prefs["a"] = 1
        for number in 1...30 {
            let listener = Listener(prefs)
            try replace(folder.file(), with: ["a": -number])
            prefs["b"] = number
            let before = number == 1 ? "1" : "\(1 - number)"
            #expect(
                listener.take().map { $0.replacing(/, (b|end): .* → - elsewhere/, with: " elsewhere") } == [
                    "Root a: \(before) → \(-number) elsewhere", "Root b: - → \(number)",
                ])
        }
    }

    @Test(arguments: Watcher.allCases)
    func whatComesAndGoes(_ watcher: Watcher) throws {
        let url = folder.file("one/two/test.plist")
        let prefs = prefs(url, WatchedSystemCalls(watcher))
        let listener = Listener(prefs)
        // The folder and the folder above do not exist yet. Then they are removed and made again.
        for number in 1...3 {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try replace(url, with: ["a": number])
            listener.heard.wait(for: 2 * number - 1)
            try FileManager.default.removeItem(at: folder.file("one"))
            listener.heard.wait(for: 2 * number)
        }
        #expect(
            listener.take()
                == (1...3).flatMap { ["Root a: - → \($0) elsewhere", "Root a: \($0) → - elsewhere"] })
    }

    enum Link: CaseIterable { case ofFile, ofFolder, chain, relative }

    @Test(arguments: Link.allCases, Watcher.allCases)
    func aLinkThatIsChanged(_ kind: Link, _ watcher: Watcher) throws {
        for name in ["A", "B"] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: false)
        }
        let (one, two) = (folder.file("A/test.plist"), folder.file("B/test.plist"))
        try write(["a": 1], to: one)
        try write(["a": 2], to: two)
        let place = folder.file("link")
        let url = kind == .ofFolder ? folder.file("link/test.plist") : place
        func lead(to name: String) {
            switch kind {
            case .ofFile: link(place, to: folder.file("\(name)/test.plist").path)
            case .ofFolder: link(place, to: folder.file(name).path)
            case .chain:
                link(folder.file("second"), to: folder.file("\(name)/test.plist").path)
                if name == "A" && (try? place.checkResourceIsReachable()) != true { link(place, to: "second") }
            case .relative: link(place, to: "\(name)/test.plist")
            }
        }
        lead(to: "A")
        let prefs = prefs(url, WatchedSystemCalls(watcher))
        let listener = Listener(prefs)
        lead(to: "B")
        #expect(listener.heard.wait(for: 1) == ["Root a: 1 → 2 elsewhere"])
        // Changes of the former file no longer count; changes of the new file do.
        try replace(one, with: ["a": 9])
        try replace(two, with: ["a": 3])
        #expect(listener.heard.wait(for: 2).last == "Root a: 2 → 3 elsewhere")
        lead(to: "A")
        #expect(listener.heard.wait(for: 3).last == "Root a: 3 → 9 elsewhere")
        prefs["a"] = 10
        #expect(listener.take().last == "Root a: 9 → 10")
        #expect(try propertyList(at: one)["Root"].map { ($0 as? [String: Any])?["a"] as? Int } == 10)
    }

    @Test(arguments: Watcher.allCases)
    func anUnreadableStateIsNotReportedUntilItIsReadable(_ watcher: Watcher) throws {
        let url = folder.file()
        let system = RecordingSystemCalls(watcher)
        let prefs = prefs(url, system)
        prefs["a"] = 1
        let listener = Listener(prefs)
        let tries = Heard<String>()
        system.onCall = { name throws(StorageFailure) in
            guard name == "open" else { return }
            tries.append(name)
            throw StorageFailure("open", url.path, code: EACCES)
        }
        try replace(url, with: ["a": 2])
        tries.wait { !$0.isEmpty }
        prefs["b"] = 1
        #expect(prefs.lastError != nil)
        #expect(listener.heard.all == [])
        system.onCall = nil
        // Makes the file readable, as by chmod.
        chmod(url.path, 0o640)
        #expect(listener.heard.wait(for: 1) == ["Root a: 1 → 2 elsewhere"])
        #expect(listener.take() == ["Root a: 1 → 2 elsewhere"])
    }

    /// A damaged file reads as the newest known state, so nothing has changed. The reload of the feed changes nothing
    /// in the folder.
    @Test(arguments: Watcher.allCases)
    func damageIsNotReportedAsAChange(_ watcher: Watcher) throws {
        let url = folder.file()
        let system = RecordingSystemCalls(watcher)
        system.flushes = false
        let prefs = prefs(url, system)
        prefs["a"] = 1
        let listener = Listener(prefs)
        // The feed finds the damage without a read of this process.
        let names = Heard<String>()
        system.onCall = { name throws(StorageFailure) in names.append(name) }
        try Data("bplist00 damaged".utf8).write(to: url)
        names.wait { $0.contains("read") }
        #expect(prefs["a"] as? Int == 1)
        #expect(try Data(contentsOf: url) == Data("bplist00 damaged".utf8))
        // A correction in place is reported like every other change.
        try writePropertyList(["Root": ["a": 2]], to: url)
        listener.heard.wait(for: 1)
        #expect(listener.take() == ["Root a: 1 → 2 elsewhere"])
        system.onCall = nil
    }

    /// Two roots of one file, changed by one foreign write or by one update, are an event for each of their observers.
    @Test(arguments: Watcher.allCases)
    func eachRootOfAFileHasItsOwn(_ watcher: Watcher) throws {
        let url = folder.file()
        let store = PrefsStore.propertyList(url: url, durability: .crash, system: WatchedSystemCalls(watcher))
        let (one, two) = (store.observedPrefs("One"), store.observedPrefs("Two"))
        let three = Listener(store.observedPrefs("Three"))
        let (first, second) = (Listener(one), Listener(two))
        try writePropertyList(["One": ["a": 1], "Two": ["b": 2], "other": 7], to: url)
        first.heard.wait(for: 1)
        second.heard.wait(for: 1)
        #expect(first.take() == ["One a: - → 1 elsewhere"])
        #expect(second.take() == ["Two b: - → 2 elsewhere"])
        one.update {
            one["a"] = 3
            two["b"] = 4
        }
        #expect(first.take() == ["One a: 1 → 3"])
        #expect(second.take() == ["Two b: 2 → 4"])
        #expect(three.take() == [])
    }

    /// A change that two foreign writes make and revert may be missed. The final state is always reported.
    @Test(arguments: Watcher.allCases)
    func theLastOfManyIsReported(_ watcher: Watcher) throws {
        let url = folder.file()
        let prefs = prefs(url, WatchedSystemCalls(watcher))
        prefs["a"] = 0
        let heard = Observer<PrefsChange> { tell in prefs.onChange { tell($0) } }
        for number in 1...300 { try replace(url, with: ["a": number]) }
        let all = heard.wait { $0.last?.newValues["a"] as? Int == 300 }
        var state = 0
        for change in all {
            #expect(change.oldValues["a"] as? Int == state && change.origin == .elsewhere)
            state = change.newValues["a"] as? Int ?? -1
        }
    }

    // MARK: - A program that writes the file in place and keeps it open

    @Test(arguments: Watcher.allCases)
    func eachWriteIsReportedBeforeTheFileIsClosed(_ watcher: Watcher) throws {
        let prefs = prefs(folder.file(), RecordingSystemCalls(watcher))
        prefs["a"] = 1
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
        let prefs = prefs(folder.file(), system)
        prefs["a"] = 1
        system.isClockAhead = !isYoung
        let listener = Listener(prefs)
        let bytes = try PropertyListCoder.encode(plain: ["Root": ["a": 2, "b": 3]], as: .plainXML)
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
