import Foundation
import Testing
import TestSupport

@testable import PersistentPreferences
@testable import PrefsEtcd

/// What the watch knows after messages and answers in an order that only a race brings about. Without a cluster.
@Suite(.waits) struct EtcdStateTests {
    private let keys = EtcdKeys(prefix: "p/")
    private let heard = ObservedCounts()

    private func state(_ lastKnown: LastKnownFile? = nil, using roots: [String] = ["A"]) -> EtcdWatch.State {
        var state = EtcdWatch.State(keys: keys, lastKnown: lastKnown)
        for root in roots { state.use(root) }
        return state
    }

    /// A root with a count, as it is after a revision.
    private func entry(_ root: String, _ count: Int, in revision: Int64) -> EtcdKeyValue {
        entry(keys.root(root), "{\"count\": \(count)}", in: revision)
    }

    private func entry(_ key: Data, _ text: String, in revision: Int64) -> EtcdKeyValue {
        EtcdKeyValue(key: key, bytes: Data(text.utf8), created: revision, modified: revision)
    }

    private func event(_ root: String, _ count: Int, in revision: Int64) -> WatchReply.Event {
        WatchReply.Event(kv: entry(root, count, in: revision))
    }

    private func step(_ root: String, from before: Int?, to after: Int) throws -> RootStep {
        RootStep(
            change: RemoteChange(root: root, before: before.map(values), after: values(after)),
            result: try StoredRoot(values(after)))
    }

    private func values(_ count: Int) -> RootValues { ["count": .integer(Int64(count))] }

    private func observer(_ action: (@Sendable (PrefsChange) -> Void)? = nil) -> RemoteObserver {
        let action = action ?? { [heard] in heard.add($0) }
        let mailbox = Mailbox(demand: Mailbox.unlimited) { change in
            {
                action(PrefsChange(root: "A", change.difference, of: change))
                return 0
            }
        }
        let observer = RemoteObserver(of: "A", EntryObserver(mailbox.delivery))
        mailbox.begin(observer.subscription {})
        return observer
    }

    /// A message of the former stream, or the proof that was under way, when a further root makes the client follow all.
    @Test func whatIsHeardBeforeAllRootsAreRead() throws {
        var state = state(using: (0..<8).map { "R\($0)" })
        state.load(state.used, state.used.map { _ in nil }, in: 10)
        #expect(!state.followsAll)
        state.use("R8")
        #expect(state.followsAll && state.unread == nil)
        state.apply(event("R1", 1, in: 11))
        #expect(!state.isComplete([], [RangeReply()], in: 11))
        state.prove([], until: 12)
        #expect(state.unread == nil && !state.isLoaded("R8"))
        state.loadAll([entry("R1", 1, in: 11), entry("R8", 8, in: 9)], in: 12)
        #expect(try state.values(of: "R8") == values(8))
        state.apply(event("R8", 9, in: 13))
        #expect(try state.unread == [] && state.values(of: "R8") == values(9))
    }

    /// The answer to an earlier write of this process comes after that to a later one.
    @Test func answersInAnotherOrder() throws {
        var state = state()
        state.load(["A"], [nil], in: 10)
        for (operation, count) in [("one", 1), ("two", 2)] {
            let steps = [try step("A", from: count - 1, to: count)]
            state.own.append(
                OwnTransaction(operation: operation, marker: keys.marker(operation), hasMarker: true, steps: steps))
        }
        state.confirm("two", at: 12)
        state.confirm("one", at: 11)
        #expect(try state.values(of: "A") == values(2))
    }

    /// A change arrives late. A look before has found no marker: because there was none ever, or because somebody has removed it.
    @Test(arguments: [false, true]) func aLateChangeAfterALook(_ hadMarker: Bool) throws {
        var state = state()
        state.load(["A"], [nil], in: 10)
        state.add(observer(), of: "A")
        let marker = keys.marker("client")
        var change = OwnTransaction(
            operation: "one", marker: marker, hasMarker: hadMarker, steps: [try step("A", from: nil, to: 1)])
        change.isUnknown = true
        state.own.append(change)
        state.look(at: nil, of: "one", in: 20)
        state.apply(event("A", 1, in: 30))
        state.look(at: entry(marker, "one host program", in: 30), of: "one", in: 31)
        #expect(heard.wait(for: 1) == (hadMarker ? .elsewhere : .thisProcess))
        #expect(state.own.isEmpty)
    }

    /// A read that this process has made after a removal of unknown outcome.
    @Test func aRemovalThatTheStreamHasNotToldYet() throws {
        var state = state()
        state.load(["A"], [entry("A", 1, in: 9)], in: 10)
        state.advance("A", to: .missing, in: 12)
        #expect(try state.values(of: "A") == nil)
        // An earlier answer changes nothing.
        state.advance("A", to: StoredRoot(entry("A", 2, in: 11)), in: 11)
        #expect(try state.values(of: "A") == nil)
        state.apply(event("A", 3, in: 13))
        #expect(try state.values(of: "A") == values(3))
    }

    /// The observer has started with what a current read had found, which the stream tells later.
    @Test func anObserverThatStartsAheadOfTheStream() throws {
        var state = state()
        state.load(["A"], [entry("A", 4, in: 40)], in: 40)
        state.note(StoredRoot(entry("A", 6, in: 60)), "A", in: 60)
        state.add(observer(), of: "A")
        for count in 5...7 { state.apply(event("A", count, in: Int64(count) * 10)) }
        #expect(heard.wait(for: 7) == .elsewhere)
        #expect(heard.all == [7])
    }

    /// A change is held back, because nobody knows yet whether it is one of this process. Another observer comes meanwhile.
    @Test func anObserverThatStartsWhileAChangeIsHeldBack() throws {
        var state = state()
        state.load(["A"], [entry("A", 1, in: 9)], in: 10)
        let late = ObservedCounts()
        state.add(observer(), of: "A")
        let change = OwnTransaction(
            operation: "one", marker: keys.marker("client"), hasMarker: true, steps: [try step("A", from: 1, to: 2)])
        state.own.append(change)
        state.apply(event("A", 2, in: 11))
        state.add(observer { late.add($0) }, of: "A")
        state.confirm("one", at: 11)
        for counts in [heard, late] {
            #expect(counts.wait(for: 2) == .thisProcess)
            #expect(counts.all == [2])
        }
    }

    /// Its revisions begin again, below those that the observer has started with.
    @Test func anObserverAndARestoredCluster() throws {
        var state = state()
        state.load(["A"], [entry("A", 1, in: 40)], in: 40)
        state.add(observer(), of: "A")
        state.forget(state)
        state.load(["A"], [entry("A", 2, in: 9)], in: 10)
        #expect(heard.wait(for: 2) == .elsewhere)
    }

    /// Roots that were removed, and one that cannot be read.
    @Test func theFileOfAClientThatFollowsAllRoots() throws {
        let home = try TemporaryFolder()
        let file = LastKnownFile(home.file("last-known.json"))
        file.save(["R1": Data("{}".utf8), "R2": Data(#"{"count": 2}"#.utf8), "R3": Data("{}".utf8)], of: nil)
        var state = state(file, using: (0..<9).map { "R\($0)" })
        state.loadAll([entry("R1", 7, in: 7), entry(keys.root("R2"), "[", in: 8)], in: 10)
        let known = state.known()
        file.save(known.roots, of: known.names)
        let found = ["R1", "R2", "R3"].map { LastKnownFile(home.file("last-known.json")).values(of: $0) }
        #expect(found == [values(7), values(2), nil])
    }

    /// A file that cannot be written is written later. Names may have any characters.
    @Test func aFileThatCouldNotBeSaved() throws {
        let home = try TemporaryFolder()
        let url = home.file("later/last-known.json")
        let (file, names) = (LastKnownFile(url), ["a\"b", "a\\", "\n", "\u{e9}/"])
        let roots = names.map { ($0, Data(#"{"count": 1}"#.utf8) as Data?) }
        file.save(Dictionary(uniqueKeysWithValues: roots), of: nil)
        try FileManager.default.createDirectory(at: home.file("later"), withIntermediateDirectories: false)
        file.save(Dictionary(uniqueKeysWithValues: roots), of: nil)
        #expect(names.map { LastKnownFile(url).values(of: $0) } == names.map { _ in values(1) })
    }

    @Test func theFileHasWhatThisProcessHasWritten() throws {
        var state = state(using: ["A", "B"])
        state.load(["A", "B"], [entry("A", 1, in: 9), entry("B", 1, in: 9)], in: 10)
        state.advance("A", to: StoredRoot(entry("A", 2, in: 12)), in: 12)
        let known = state.known().roots.compactMapValues { $0.map { String(decoding: $0, as: UTF8.self) } }
        #expect(known == ["A": #"{"count": 2}"#, "B": #"{"count": 1}"#])
    }

    // MARK: - Roots that were left, and restored clusters

    /// They are left while they are read, and are read again when they are used again.
    @Test func rootsThatAreLeftWhileTheyAreRead() throws {
        var few = state(using: ["A", "B"])
        few.leaveUnused(at: .now + .seconds(601))
        #expect(few.used == ["B"])
        few.load(["A", "B"], [entry("A", 1, in: 9), entry("B", 1, in: 9)], in: 10)
        few.use("A")
        #expect(!few.isLoaded("A") && few.isLoaded("B"))
        var many = state(using: (0..<9).map { "R\($0)" })
        #expect(many.followsAll)
        many.leaveUnused(at: .now + .seconds(601))
        many.loadAll([entry("R1", 1, in: 9)], in: 10)
        #expect(many.used == ["R8"] && many.unread == ["R8"])
    }

    /// Revisions begin again below those of before. Only what was confirmed since the look that has noticed it is of the new cluster.
    @Test func whatARestoredClusterLeaves() throws {
        var state = state(using: ["A", "B"])
        state.load(["A", "B"], [entry("A", 1, in: 40), entry("B", 1, in: 40)], in: 40)
        state.advance("B", to: StoredRoot(entry("B", 5, in: 55)), in: 55)
        state.note(StoredRoot(entry("A", 6, in: 60)), "A", in: 60)
        let known = state
        state.advance("A", to: StoredRoot(entry("A", 3, in: 50)), in: 50)
        state.forget(known)
        state.load(["A", "B"], [entry("A", 2, in: 9), entry("B", 2, in: 9)], in: 10)
        #expect(try state.values(of: "A") == values(3) && state.lastGood("A") == values(3))
        #expect(try state.values(of: "B") == values(2) && state.lastGood("B") == values(2))
        #expect(state.newest("A")?.modified == 50 && state.newest("B")?.modified == 9)
    }

    /// A change of the new cluster may have the revision of a change before.
    @Test func aRevisionThatIsUsedAgain() throws {
        var state = state(using: ["A", "B"])
        state.load(["A", "B"], [entry("A", 1, in: 9), entry("B", 1, in: 9)], in: 10)
        state.advance("B", to: StoredRoot(entry("B", 2, in: 12)), in: 12)
        #expect(try ["A", "B"].map { try state.values(of: $0) } == [values(1), values(2)])
        state.forget(state)
        state.load(["A", "B"], [entry("A", 5, in: 9), entry("B", 6, in: 12)], in: 12)
        #expect(try ["A", "B"].map { try state.values(of: $0) } == [values(5), values(6)])
    }

    /// Reads of several threads may be answered in another order.
    @Test func aReadThatIsAnsweredLate() throws {
        var state = state()
        for (count, revision) in [(6, 60), (5, 50), (7, 70)] as [(Int, Int64)] {
            state.note(StoredRoot(entry("A", count, in: revision)), "A", in: revision)
            #expect(state.lastGood("A") == values(max(6, count)))
        }
    }

    /// Whether nothing is missing is told by the newest change and the number of roots, which grows with new ones only.
    @Test func onlyANewRootIsCounted() {
        var state = state(using: (0..<9).map { "R\($0)" })
        state.loadAll([entry("R1", 1, in: 7), entry("R2", 1, in: 8)], in: 10)
        var changed = entry("R1", 2, in: 11)
        changed.created = 7
        state.apply(WatchReply.Event(kv: changed))
        state.apply(event("R3", 1, in: 12))
        state.apply(WatchReply.Event(isRemoval: true, kv: entry("R2", 0, in: 13)))
        state.apply(event("R2", 3, in: 14))
        #expect(state.count == 3)
    }

    /// A cluster that has less than what was read, what was written, or what was confirmed, was restored.
    @Test func aClusterThatHasLessIsBehind() throws {
        var state = state()
        func isAhead(of revision: Int64, _ term: Int64 = 0) -> Bool {
            state.progress.isAhead(of: revision, term: term)
        }
        state.load(["A"], [entry("A", 1, in: 9)], in: 10)
        #expect(isAhead(of: 9) && !isAhead(of: 10))
        state.advance("A", to: StoredRoot(entry("A", 2, in: 12)), in: 12)
        #expect(isAhead(of: 11) && !isAhead(of: 12))
        var change = OwnTransaction(
            operation: "one", marker: keys.marker("one"), hasMarker: true, steps: [try step("B", from: 1, to: 2)])
        change.revision = 14
        state.own.append(change)
        #expect(isAhead(of: 13) && !isAhead(of: 14))
        state.term = 3
        #expect(isAhead(of: 14, 2) && !isAhead(of: 14, 3))
    }

    /// Short at first, and longer for a slow server, up to the age that a copy may have.
    @Test func theTimeToReadAllRoots() throws {
        let client = EtcdClient(endpoints: [try Endpoint(loopback(1))], user: nil, patience: .seconds(4))
        let roots = WatchedRoots(
            client: client, keys: keys, limit: .seconds(10), patience: .seconds(16), state: Guarded(state()))
        #expect([0, 1, 2, 100].map { roots.timeToLoad(afterRounds: $0) } == [4, 8, 10, 10].map { .seconds($0) })
    }

    // MARK: - Keys and values

    @Test func keysThatAreNoRoots() {
        for name in ["A", "a/b", "caf\u{e9}", "\u{FFFD}", ""] { #expect(keys.root(ofKey: keys.root(name)) == name) }
        for key in [keys.roots + [0xFF], keys.roots + "A".utf8 + [0xC3], keys.version, keys.markers + "A".utf8] {
            #expect(keys.root(ofKey: key) == nil)
        }
    }

    /// - Parameter count: that of the root; -1 for a root of another type, and nil for what is no root.
    @Test(
        arguments: [
            (#"{"count": 1}"#, 1), ("\n\t {\"count\": 2}\n", 2), ("[1]", -1), ("7", -1), (#""x""#, -1), ("true", -1),
            ("", nil), ("{", nil), (#"1, "y": 2"#, nil), (#"{} {}"#, nil),
            ("<plist><dict><key>count</key><integer>3</integer></dict></plist>", nil),
        ] as [(String, Int?)]) func aRootIsOneJSONDictionary(_ text: String, count: Int?)
    {
        var root = StoredRoot(entry(keys.root("A"), text, in: 7))
        switch root.result(of: "A", in: keys) {
        case .success(let found): #expect(found == count.map(values))
        case .failure(.rootIsNotDictionary("A")): #expect(count == -1)
        case .failure(.unreadable(let failure)): #expect(count == nil && failure.path == "etcd key p/r/A")
        case .failure(let failure): Issue.record("\(failure)")
        }
    }

    /// etcd may be anywhere. Tests of a fleet are skipped if it is not found.
    @Test func programsAreSearchedForInThePath() throws {
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        let file = second.file("fleet-program")
        try Data().write(to: file)
        let path = "\(first.file("").path):\(second.file("").path)"
        #expect(Child.installed("fleet-program", in: path) == nil)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        let found = try #require(Child.installed("fleet-program", in: path))
        #expect(URL(filePath: found).standardizedFileURL == file.standardizedFileURL)
    }

    // MARK: - An observer that is slower than the changes

    /// Reports states while the observer is busy with the first change, and returns what it was told, merged or not.
    private func told(from start: RootValues, _ states: [(RootValues, isForeign: Bool)]) -> [PrefsChange] {
        let (begun, goesOn, ended) = (Signal(), Signal(), Signal())
        let told = Locked<[PrefsChange]>([])
        let observer = observer { change in
            told.withLock { $0.append(change) }
            let soFar = told.withLock { $0.map(\.count) }
            if soFar.count == 1 {
                begun.signal()
                goesOn.wait()
            }
            if soFar.reduce(0, +) == states.count { ended.signal() }
        }
        observer.begin(with: start)
        for (number, state) in states.enumerated() {
            observer.receive(state.0, isForeign: state.isForeign)
            if number == 0 { begun.wait() }
        }
        goesOn.signal()
        ended.wait()
        return told.withLock { $0 }
    }

    @Test func theNewestOfManyChangesAreMerged() {
        let told = told(from: values(0), (1...3_000).map { (values($0), false) })
        #expect(told.map(\.count) == Array(repeating: 1, count: 1_024) + [1_976])
        #expect(told.last?.oldValues["count"] as? Int == 1_024)
        #expect(told.last?.newValues["count"] as? Int == 3_000)
        #expect(told.last?.origin == .thisProcess)
    }

    @Test func largeChangesAreMergedEarlier() {
        func values(_ a: UInt8, _ b: Int? = nil) -> RootValues {
            var values: RootValues = ["a": .data(Data(repeating: a, count: 5 << 20))]
            values["b"] = b.map { .integer(Int64($0)) }
            return values
        }
        let told = told(
            from: values(0), [(values(1), false), (values(2), true), (values(2, 1), false), (values(3, 1), false)])
        #expect(told.map(\.count) == [1, 3])
        #expect((told.last?.oldValues["a"] as? Data)?.first == 1 && told.last?.oldValues.count == 1)
        #expect((told.last?.newValues["a"] as? Data)?.first == 3)
        #expect(told.last?.newValues["b"] as? Int == 1)
        #expect(told.last?.origin == .elsewhere)
    }
}
