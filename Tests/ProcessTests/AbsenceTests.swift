import PrefsFileEngine
import Foundation
import TestSupport
import Testing

/// What must not come back after a file was missing for a moment: on a disk, with the clocks of this machine (contracts 1
/// and 7).
///
/// In a window, a test cannot rely on its own speed. It repeats what was not done in time.
@Suite(.waitsOneByOne, .serialized, .enabled(if: SavedFile.isPossible)) final class AbsenceTests {
    private let home: TemporaryFolder
    private let file: SavedFile

    init() throws {
        home = try TemporaryFolder()
        file = try SavedFile()
    }

    /// A process that has read the file.
    ///
    /// - Parameter isWritten: whether it has written the file, too, so that there is a last good copy.
    private func bystander(_ role: String = "asked", isWritten: Bool = false) throws -> PipedChild {
        let child = try PipedChild(
            "Probe", ["bystander", role, file.path] + (isWritten ? ["writes"] : []), home: home)
        #expect(try child.line() == "ready")
        return child
    }

    /// The answer of a read: the round, the person's value, and the error.
    private func read(_ child: PipedChild) throws -> String {
        let words = try child.ask("read").split(separator: " ", maxSplits: 3)
        return "\(words[0]) \(words[1]) \(words[3])"
    }

    private let known = "0 keep ok"
    private let nothing = "-1 default ok"

    private func remove() throws { try FileManager.default.removeItem(at: file.file) }
    private func moveAway() throws { try FileManager.default.moveItem(at: file.file, to: file.beside("config.json~")) }
    private func moveBack() throws { try FileManager.default.moveItem(at: file.beside("config.json~"), to: file.file) }

    /// Waits for a program that ends after some seconds.
    private func pass(_ seconds: Double) throws {
        _ = try Child(URL(filePath: "/bin/sleep"), ["\(seconds)"], environment: [:]).wait()
    }

    /// Whether a body took less than a window. If not, what it has read proves nothing.
    private func isInWindow(of milliseconds: Int = 200, _ body: () throws -> Void) rethrows -> Bool {
        let begin = ContinuousClock.now
        try body()
        return .now - begin < .milliseconds(milliseconds)
    }

    @Test(arguments: [false, true]) func aFileThatWasRemovedASecondAgoIsMissing(_ isWritten: Bool) throws {
        let child = try bystander(isWritten: isWritten)
        try remove()
        try pass(1)
        #expect(try read(child) == nothing)
    }

    /// A busy machine lets a program that saves wait.
    @Test(arguments: [false, true]) func aFileThatIsMissingForATenthOfASecondIsBeingSaved(_ isWritten: Bool) throws {
        let child = try bystander(isWritten: isWritten)
        let end = Patience.deadline
        while .now < end {
            var first = ""
            let isSeen = try isInWindow(of: 250) {
                try moveAway()
                try pass(0.1)
                first = try read(child)
            }
            try moveBack()
            #expect(try read(child) == known)
            guard isSeen else { continue }
            #expect(first == known)
            return
        }
        Issue.record("\(Patience.failure("a read in 250 ms"))")
    }

    /// The folder is renamed and nothing takes its place.
    @Test(arguments: [false, true]) func aWriteMakesAFolderThatWasMovedAwayASecondAgo(_ isWritten: Bool) throws {
        let child = try bystander(isWritten: isWritten)
        let folder = file.file.deletingLastPathComponent()
        let former = folder.deletingLastPathComponent().appending(path: "former")
        try FileManager.default.moveItem(at: folder, to: former)
        try pass(1)
        let error = try child.ask("write 5")
        #expect(error.contains("was missing"), "\(error)")
        #expect(try propertyList(at: file.file) as? [String: Int] == ["own": 5])
        let kept = try propertyList(at: former.appending(path: "config.json"))
        #expect(kept["person"] as? String == SaveTally.kept && kept["own"] as? Int == (isWritten ? 1 : nil))
    }

    /// Two programs save the file one after the other, at once or a while later. Nobody has looked in between.
    @Test(arguments: [false, true], [0, 0.1]) func aSecondSaveThatIsNotTheFirstIsOneToo(
        _ isWritten: Bool, _ pause: Double
    ) throws {
        let end = Patience.deadline
        while .now < end {
            let child = try bystander(isWritten: isWritten)
            var reads: [String] = []
            let isFirstSeen = try isInWindow {
                try moveAway()
                reads.append(try read(child))
                try moveBack()
            }
            if pause > 0 { try pass(pause) }
            let isSecondSeen = try isInWindow {
                try moveAway()
                reads.append(try read(child))
            }
            try moveBack()
            guard isFirstSeen, isSecondSeen else { continue }
            #expect(reads == [known, known])
            return
        }
        Issue.record("\(Patience.failure("two reads in 200 ms each"))")
    }

    /// A process is stopped in a window and goes on after it.
    @Test(arguments: [false, true], [false, true]) func aStopProlongsNoWindow(_ isWritten: Bool, _ isBack: Bool) throws
    {
        let end = Patience.deadline
        while .now < end {
            let child = try bystander(isWritten: isWritten)
            var first = ""
            let isSeen = try isInWindow {
                try moveAway()
                first = try read(child)
                child.send(SIGSTOP)
            }
            try pass(0.5)
            if isBack { try file.replace(with: 7) }
            child.send(SIGCONT)
            let second = try read(child)
            if isBack { try remove() }
            try moveBack()
            #expect(second == (isBack ? "7 keep ok" : nothing))
            guard isSeen else { continue }
            #expect(first == known)
            return
        }
        Issue.record("\(Patience.failure("a read in 200 ms"))")
    }

    /// `rm f; ./app`. It may wait once, because it knows nothing.
    @Test(arguments: [false, true]) func aProgramThatStartsAfterARemovalReadsNothing(_ isWritten: Bool) throws {
        _ = try bystander(isWritten: isWritten).ask("read")
        try remove()
        let child = try bystander()
        #expect(try read(child) == nothing)
        let error = try child.ask("write 5")
        #expect(error == "ok" || isWritten && error.contains("was missing"), "\(error)")
    }

    /// At once, so that it waits for the end of the window, and later.
    @Test(arguments: [false, true], [0, 0.2]) func aWriteAfterTheWindowMakesTheFile(
        _ isWritten: Bool, _ pause: Double
    ) throws {
        let child = try bystander(isWritten: isWritten)
        try remove()
        if pause > 0 { try pass(pause) }
        let error = try child.ask("write 5")
        #expect(error.contains("was missing") && error.contains("quarantined as"), "\(error)")
        let new = try JSONSerialization.jsonObject(with: Data(contentsOf: file.file)) as? [String: Int]
        #expect(new == ["own": 5])
        let lost = try CheckedCopy.bytes(of: Data(contentsOf: file.beside("config.json.corrupt-missing")))
        let object = try JSONSerialization.jsonObject(with: lost) as? [String: Any]
        #expect(object?["person"] as? String == SaveTally.kept && object?["round"] as? Int == 0)
    }

    /// A program writes the first half and goes on after 1.5 s. No read waits. After 500 ms, reads have the error.
    @Test(arguments: [false, true]) func halfAFileIsTheLastKnownStateAndLaterAnError(_ isWritten: Bool) throws {
        let child = try bystander("reader", isWritten: isWritten)
        let whole = Data(file.text(1).utf8)
        try whole.prefix(whole.count / 2).write(to: file.file)
        try pass(1.5)
        let error = try read(child)
        #expect(error.hasPrefix("0 keep ") && error.contains("; the file is unchanged, "), "\(error)")
        try whole.write(to: file.file)
        #expect(try read(child) == "1 keep ok")
        let tally = try JSONDecoder().decode(SaveTally.self, from: Data(child.ask("tally").utf8))
        #expect(tally.defaults + tally.trueDefaults + tally.foreign == 0, "\(tally.examples)")
        Hazard.report(
            "savers: half a file: \(tally.reads) reads, \(String(format: "longest %.1f ms", tally.longestRead)), \(tally.slowReads) over 20 ms"
        )
    }
}
