import Foundation
import TestSupport
import Testing

/// A process that forks inside an `update`. The child inherits the lock, and must neither keep nor release it.
@Suite(.waits) final class ForkTests: ProbeSuite {
    private func storedCount() throws -> Int? {
        try values(in: file)["count"] as? Int
    }

    private func write(_ count: Int) throws -> String {
        try probe("surroundings", "open \(path)", "set \(count)").output
    }

    @Test func aChildThatLivesOnKeepsNobodyOut() throws {
        _ = try write(1)
        let dialogue = try piped("fork", path)
        #expect(try dialogue.line() == "ok")
        // Otherwise, the next step would wait for ever.
        try #require(!isLocked(file))
        #expect(try storedCount() == 2)
        #expect(try write(3) == "open: ok\nset: ok\n")
        #expect(try storedCount() == 3)
        // It has its standard input until here.
        withExtendedLifetime(dialogue) {}
    }

    /// The lock lasts as long as the child, and reads need no lock, as `PrefsStore.propertyList` documents.
    @Test func aChildThatOutlivesAKilledParentKeepsTheLockUntilItEnds() throws {
        _ = try write(1)
        do {
            let dialogue = try piped("fork-killed", path)
            #expect(try dialogue.line() == "alone")
            #expect(isLocked(file))
            #expect(try storedCount() == 1)
            try expect("open: ok\nget: 1 ok\n", of: "surroundings", "open \(path)", "get")
        }
        // The dialogue and its child have ended, so this process waits for the lock and gets it.
        #expect(try write(3) == "open: ok\nset: ok\n")
        #expect(try storedCount() == 3 && !isLocked(file))
        #expect(try home.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
    }

    @Test func aChildThatReturnsFromTheBodyNeitherCommitsNorUnlocks() throws {
        _ = try write(1)
        let reason = "is being updated by the parent of this forked process; the stored state is unchanged"
        try expect(
            """
            child: \(path): \(reason)
            parent, in update: locked
            parent: ok
            then: unlocked 2

            """, of: "fork-returns", path)
        #expect(try storedCount() == 2)
        #expect(try home.names() == [".test.plist.lastgood", ".test.plist.lock", "test.plist"])
        #expect(!isLocked(file))
    }

    /// The parent removes the lock file of its command.
    @Test func aChildThatReturnsFromTheBodyOfACommandRemovesNoLockFile() throws {
        try writePropertyList(["ProbePrefs": ["count": 1]], to: file)
        let reason = "is being updated by the parent of this forked process; the stored state is unchanged"
        let output = try probe("fork-command", path).output.split(separator: "\n")
        #expect(output.first == "child: \(path): \(reason)" && output.dropFirst(2).first == "parent: ok", "\(output)")
        #expect(try storedCount() == 2 && home.names() == ["test.plist"])
    }

    @Test func aChildForkedOutsideOfAnUpdateIsAProcessLikeOthers() throws {
        try expect("0 201\n", of: "fork-writes", path)
        #expect(try storedCount() == 201 && !isLocked(file))
    }

    /// Guarantee 11: a child cannot observe, also if its parent observes the file.
    @Test func aChildOfAProcessThatObservesIsToldThatItCannot() throws {
        _ = try write(1)
        let failure = "child: \(home.path): cannot be watched in a forked process"
        let output = try probe("fork-observes", path).output.split(separator: "\n")
        #expect(output.first == "parent: ok" && output.count == 3, "\(output)")
        #expect(output.dropFirst().allSatisfy { $0.hasPrefix(failure) }, "\(output)")
    }

    /// A lock that another thread holds at the moment of the fork is free in the child.
    @Test(.enabled(if: Hazard.canRunUnsanitized("surroundings: fork beside eight threads")), arguments: [false, true])
    func aChildOfAProcessWithThreadsReadsAndWrites(_ isDefaultStore: Bool) throws {
        let forks = Hazard.count("PREFS_FORKS", default: Hazard.count(20, long: 60))
        let result = try probe("fork-threads", isDefaultStore ? "" : path, "\(forks)")
        let numbers = result.output.matches(of: /-?[0-9]+/).compactMap { Int($0.output) }
        try #require(numbers.count == 4, "\(result.output) \(result.errors)")
        #expect(numbers[0] == forks, "\(result.output)")
        #expect(numbers[2] == numbers[3], "\(result.output)")
        #expect(result.output.hasSuffix("; heard\n"), "\(result.output)")
        Hazard.report("surroundings: fork beside eight threads: \(result.output.dropLast())")
    }
}
