@testable import PrefsSupport
import AppleModels
import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsKeys

/// Unreadable is not empty: before the first unlock after a restart, nothing is written, and nothing is lost.
@Suite struct FirstUnlockTests {
    private let daemon = ModelDaemon()

    private final class AppPrefs: RecordingPrefs, @unchecked Sendable {
        @Pref var volume = 0.5
        @Pref var name = "none"
    }

    private func prefs(_ process: ModelDefaults, _ layout: DomainLayout) -> AppPrefs {
        AppPrefs(key: "Root", store: .userDefaults(process, layout: layout))
    }

    /// Stores values, and restarts the device.
    private func restart(_ layout: DomainLayout) {
        let prefs = prefs(daemon.process(), layout)
        prefs.volume = 1
        prefs.name = "kept"
        daemon.deliver()
        #expect(daemon.hasMarker)
        daemon.restart()
    }
    /// A process in which other code has read the domain already, and which is not told of a reload.
    private func lateProcess() -> ModelDefaults {
        let process = daemon.process()
        process.hearsOfReload = false
        #expect(process.object(forKey: "any") == nil)
        return process
    }

    private static let locked =
        "UserDefaults cannot be read: the device has not been unlocked since it was started; the stored state is unchanged"

    @Test(arguments: [DomainLayout.roots, .flat])
    func nothingIsWrittenBeforeTheFirstUnlock(_ layout: DomainLayout) throws {
        restart(layout)
        let before = try #require(daemon.storedFile) as NSDictionary
        let process = daemon.process()
        let prefs = prefs(process, layout)
        #expect(prefs.errors == [Self.locked])
        #expect(prefs.volume == 0.5 && prefs.values.isEmpty)
        prefs.volume = 2
        prefs["name"] = "new"
        prefs.values = ["volume": 3.0]
        prefs.resetAll()
        prefs.deleteRoot()
        #expect(prefs.update { $0["volume"] = 4.0 }.failure != nil)
        #expect(prefs.$volume.set(5) != nil && prefs.$volume.reset() != nil)
        prefs.reload()
        #expect(prefs.errors == Array(repeating: Self.locked, count: 9))
        #expect(prefs.lastError?.detail(of: PrefsError.unreadable) != nil, "\(prefs.outcome)")
        daemon.deliver()
        daemon.unlock()
        #expect(prefs.volume == 1 && prefs.name == "kept")
        #expect(prefs.lastError == nil)
        prefs.volume = 6
        daemon.deliver()
        #expect(daemon.storedFile?.count == before.count)
        let fresh = self.prefs(daemon.process(), layout)
        #expect(fresh.volume == 6 && fresh.name == "kept")
    }

    @Test(arguments: [DomainLayout.roots, .flat])
    func observersReceiveTheValuesAfterTheUnlock(_ layout: DomainLayout) {
        restart(layout)
        let process = lateProcess()
        let prefs = prefs(process, layout)
        let heard = Observer<[String]> { tell in prefs.onChange { tell($0.keys) } }
        #expect(prefs.volume == 0.5)
        daemon.unlock()
        // UserDefaults still returns what it read before the unlock: the domain stays unreadable.
        #expect(prefs.volume == 0.5)
        #expect(
            prefs.outcome
                == "UserDefaults cannot be read: the domain's file has entries, and UserDefaults does not return them yet; "
                + "the stored state is unchanged")
        prefs.volume = 7
        #expect(prefs.lastError != nil)
        process.notifyUnlock()
        #expect(heard.wait(for: 1) == [["name", "volume"]])
        #expect(prefs.volume == 1)
    }

    /// The domain's file is not found, so only the marker shows that there are values.
    @Test func theMarkerAloneTells() {
        daemon.hasMarker = true
        daemon.restart()
        let process = lateProcess()
        let prefs = prefs(process, .flat)
        prefs.volume = 2
        #expect(prefs.errors.count == 2)
        daemon.unlock()
        prefs.volume = 2
        #expect(
            prefs.errors.dropFirst(2) == [
                "UserDefaults cannot be read: the domain has had values, and UserDefaults returns none yet; "
                    + "the stored state is unchanged"
            ])
        // If there are no values after all, the program is not blocked.
        process.notifyUnlock()
        prefs.volume = 2
        #expect(prefs.lastError == nil && prefs.volume == 2)
    }

    /// Other code has removed everything. A marker alone does not block the program.
    @Test(arguments: [true, false])
    func aDomainThatOtherCodeHasRemovedIsEmpty(_ removesFile: Bool) {
        prefs(daemon.process(), .flat).volume = 1
        daemon.deliver()
        daemon.removeDomain(removesFile: removesFile)
        let prefs = prefs(daemon.process(), .flat)
        #expect(prefs.volume == 0.5 && prefs.lastError == nil)
        prefs.volume = 2
        #expect(prefs.lastError == nil)
    }

    /// Frameworks set entries in the process before the first unlock, so the domain is not empty.
    @Test func entriesOfOthersProveNothing() {
        restart(.flat)
        let process = lateProcess()
        let prefs = prefs(process, .flat)
        daemon.unlock()
        process.set(true, forKey: "framework")
        #expect(prefs.volume == 0.5 && prefs.lastError != nil)
        daemon.deliver()
        process.notifyUnlock()
        #expect(prefs.volume == 1)
    }

    /// Before the unlock, a framework has set an entry that the file has with another value.
    @Test func anEntryOfTheSameNameProvesNothing() {
        daemon.process().set(57, forKey: "launches")
        restart(.flat)
        let process = daemon.process()
        process.hearsOfReload = false
        process.set(1, forKey: "launches")
        // The daemon has not received the entry yet.
        let prefs = prefs(process, .flat)
        daemon.unlock(loads: false)
        #expect(prefs.volume == 0.5 && prefs.lastError != nil)
        prefs.volume = 2
        #expect(prefs.lastError != nil)
        // A process whose first access is after the unlock does not accept it, either.
        let late = daemon.process()
        late.set(1, forKey: "launches")
        let latePrefs = self.prefs(late, .flat)
        latePrefs.volume = 3
        #expect(latePrefs.lastError != nil)
        daemon.load()
        process.notifyUnlock()
        #expect(prefs.volume == 1 && prefs.name == "kept")
        prefs.volume = 4
        #expect(prefs.lastError == nil)
    }

    /// An extension is never notified of the unlock. Its next access detects it, and its observers receive the values.
    @Test func aProgramThatIsNotNotifiedFindsOutAtItsNextAccess() {
        restart(.flat)
        let prefs = prefs(daemon.process(), .flat)
        let heard = Observer<[String]> { tell in prefs.onChange { tell($0.keys) } }
        #expect(prefs.volume == 0.5)
        daemon.unlock()
        #expect(prefs.volume == 1)
        #expect(heard.wait(for: 1) == [["name", "volume"]])
    }

    /// Everything was removed before the restart. There is no marker, and a file without entries decides.
    @Test(arguments: [true, false])
    func anEmptiedDomainIsReadableAfterTheUnlock(_ hasFile: Bool) {
        let first = prefs(daemon.process(), .flat)
        first.volume = 1
        #expect(daemon.hasMarker)
        first.deleteRoot()
        daemon.deliver()
        #expect(!daemon.hasMarker)
        if !hasFile { daemon.removeDomain() }
        daemon.restart()
        let prefs = prefs(daemon.process(), .flat)
        #expect((prefs.lastError != nil) == hasFile)
        daemon.unlock()
        prefs.volume = 2
        #expect(prefs.lastError == nil && prefs.volume == 2)
    }

    /// The daemon writes the file later, so newer values and a removed entry are no sign of a locked device.
    @Test(arguments: [true, false])
    func aFileOlderThanTheDomainDoesNotIndicateALock(_ isRemoval: Bool) {
        let first = prefs(daemon.process(), .flat)
        first.volume = 1
        first.name = "one"
        daemon.deliver()
        daemon.writesFileAtOnce = false
        let appExtension = daemon.process()
        appExtension.set(isRemoval ? 1.0 : 2.0, forKey: "volume")
        appExtension.set(isRemoval ? nil : "two", forKey: "name")
        daemon.deliver()
        let prefs = prefs(daemon.process(), .flat)
        #expect(prefs.volume == (isRemoval ? 1 : 2) && prefs.name == (isRemoval ? "none" : "two"))
        #expect(prefs.lastError == nil)
        prefs.volume = 3
        #expect(prefs.lastError == nil)
    }

    /// Other code removes the domain, and the daemon writes the file later. Until then, the domain counts as
    /// unreadable.
    @Test func aDomainWhoseFileIsYetToBeWrittenIsBelievedThen() {
        prefs(daemon.process(), .flat).volume = 1
        daemon.deliver()
        daemon.writesFileAtOnce = false
        let process = daemon.process()
        process.set(nil, forKey: "volume")
        process.set(nil, forKey: "framework")
        let prefs = prefs(process, .flat)
        prefs.volume = 2
        #expect(prefs.lastError != nil)
        daemon.deliver()
        daemon.writeFile()
        prefs.volume = 2
        #expect(prefs.lastError == nil && prefs.volume == 2)
    }

    /// An unlock that is announced while an access checks the file is not announced again.
    @Test func anUnlockDuringALookIsNotMissed() {
        daemon.hasMarker = true
        daemon.restart()
        let process = daemon.process()
        nonisolated(unsafe) var looks = 0
        process.didLook = { [daemon] in
            looks += 1
            guard looks == 1 else { return }
            daemon.unlock()
            process.notifyUnlock()
        }
        let prefs = prefs(process, .flat)
        #expect(prefs.lastError != nil)
        prefs.volume = 2
        #expect(prefs.lastError == nil && prefs.volume == 2)
    }

    @Test func aFileThatCannotBeOpenedForAnotherReasonIsNamed() {
        daemon.failure = "Too many open files"
        let prefs = prefs(daemon.process(), .flat)
        #expect(
            prefs.errors == [
                "UserDefaults cannot be read: its file cannot be opened: Too many open files; the stored state is unchanged"
            ])
        daemon.failure = nil
        prefs.volume = 2
        #expect(prefs.lastError == nil)
    }

    @Test func aNewInstallationIsNotLocked() {
        let prefs = prefs(daemon.process(), .roots)
        #expect(prefs.lastError == nil && !daemon.hasMarker)
        prefs.volume = 1
        #expect(prefs.lastError == nil && daemon.hasMarker)
    }

    /// On a Mac there are no locked files, and no marker.
    @Test func withoutDataProtectionNothingIsLookedAt() {
        let process = daemon.process()
        process.hasDataProtection = false
        let prefs = prefs(process, .roots)
        prefs.volume = 1
        #expect(!daemon.hasMarker)
        #expect(process.takeCopies() == 1)
    }

    /// Before the unlock, single keys outside of a class can be neither read nor written.
    @Test func keysOutsideAClassAreNotWritten() throws {
        restart(.flat)
        let process = daemon.process()
        let store = PrefsStore.userDefaults(process, layout: .flat)
        let errors = Locked<[String]>([])
        @AppSetting("volume", store: store, didFail: { error in errors.withLock { $0.append("\(error)") } })
        var volume = 0.5
        #expect(volume == 0.5 && $volume.set(2) != nil)
        #expect(errors.withLock { $0 } == [Self.locked, Self.locked])
        #expect(throws: FileError.self) { try store.roots.state(of: .everything).content }
        daemon.deliver()
        daemon.unlock()
        #expect(volume == 1)
        #expect(try store.roots.state(of: .everything).content?.count == 2)
    }
}
