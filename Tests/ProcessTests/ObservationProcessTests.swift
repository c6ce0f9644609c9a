import Foundation
import TestSupport
import Testing

/// Observers of the default store receive the writes of another process without a read.
@Suite(.waits) final class ObservationProcessTests: ProbeSuite {
    @Test func aWriteOfAnotherProcessIsReported() throws {
        let observer = try piped("watch")
        let writer = try piped("serve")
        // The folder of the file is missing.
        try tell(observer, "observe", "1 queues, watching")
        for number in 1...20 {
            #expect(try writer.ask("set \(number)") == "ok")
            #expect(try observer.line() == "change \(number) elsewhere")
        }
        // Another program writes.
        try writePropertyList(["ProbePrefs": ["count": 100]], to: domain, as: .xml)
        #expect(try observer.line() == "change 100 elsewhere")
    }

    @Test func trackedValuesAreReportedOnTheMainQueue() throws {
        let observer = try piped("watch")
        let writer = try piped("serve")
        for number in 1...3 {
            try tell(observer, "track", "1 queues, watching")
            #expect(try writer.ask("set \(number)") == "ok")
            #expect(try observer.line() == "tracked \(number) on the main queue")
        }
    }

    @Test func theWatchEndsWithTheLastObserver() throws {
        let observer = try piped("watch")
        let writer = try piped("serve")
        #expect(try writer.ask("set 1") == "ok")
        #expect(try observer.ask("cancel") == "0 queues, idle")
        try tell(observer, "observe", "1 queues, watching")
        #expect(try writer.ask("set 2") == "ok")
        #expect(try observer.line() == "change 2 elsewhere")
        // The watch may still look at the folder after that change.
        let latest = Patience.deadline
        var answer = try observer.ask("cancel")
        while answer != "1 queues, idle", .now < latest { answer = try observer.ask("count") }
        #expect(answer == "1 queues, idle")
    }

    private func tell(_ observer: PipedChild, _ command: String, _ answer: String) throws {
        #expect(try observer.ask(command) == answer)
    }

    /// A user has 128 queues by default.
    @Test func thousandsOfObserversUseOneQueue() throws {
        let observer = try piped("watch")
        try tell(observer, "cycle", "0 failures, few threads")
        #expect(try observer.line() == "1 queues, idle")
        try tell(observer, "observe", "1 queues, watching")
    }

    /// Commits of several processes: the received changes have no gaps, and end with the last state.
    @Test func theLastOfManyCommitsIsReported() throws {
        let observer = try piped("watch")
        try tell(observer, "observe", "1 queues, watching")
        let writers = try (0..<2).map { _ in try Child("Probe", ["increment", "100"], home: home) }
        var last = 0
        while last < 200 {
            let words = try observer.line().split(separator: " ")
            let number = try #require(Int(words[1]))
            #expect(number > last && words[2] == "elsewhere")
            last = number
        }
        for writer in writers { #expect(try writer.wait().code == 0) }
    }
}
