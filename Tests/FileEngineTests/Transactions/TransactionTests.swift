import PrefsPropertyLists
import Testing

@testable import PrefsFileEngine

/// What one transaction knows, and what a thread knows of those that it is in.
@Suite struct TransactionTests {
    private final class Owner {}

    private struct Session: TransactionSession {
        var content: DomainContent? = [:]
        var lockPath: String?
        func commit(_ content: DomainContent, durability: CommitDurability) {}
    }

    private static func transaction(of content: DomainContent? = ["R": .integer(1), "S": .integer(1)]) -> Transaction {
        Transaction(of: Owner(), content: content)
    }

    /// How much a root may grow is known until somebody else changes it.
    @Test func theRoomOfARootIsThatOfItsLastState() throws {
        let transaction = Self.transaction()
        func room(of root: String, _ new: Int? = nil) -> Int? {
            var found: Int?
            transaction.changeInPlace(of: root) { _, room in
                found = room
                if let new { room = new }
                return false
            }
            return found
        }
        #expect(room(of: "R", 5) == nil && room(of: "S", 7) == nil)
        #expect(room(of: "R") == 5 && room(of: "S") == 7)
        transaction["R"] = .integer(2)
        #expect(room(of: "R", 6) == nil && room(of: "S") == 7)
        transaction.replace("S", with: .integer(1))
        #expect(room(of: "S") == 7, "an equal entry")
        transaction.replace("S", with: nil)
        #expect(room(of: "S", 8) == nil && room(of: "R") == 6)
        transaction.replaceAll(with: [:])
        #expect(room(of: "R") == nil && room(of: "S") == nil)
    }

    @Test func anEqualEntryIsNoChange() {
        let cases: [(DomainContent?, String, StoredValue?, Bool)] = [
            (["R": .integer(1)], "R", .integer(1), false), (["R": .integer(1)], "R", .integer(2), true),
            (["R": .integer(1)], "S", nil, false), (["R": .integer(1)], "R", nil, true), (nil, "R", nil, false),
            (nil, "R", .dictionary([:]), true),
        ]
        for (content, key, entry, isChanged) in cases {
            let transaction = Self.transaction(of: content)
            transaction.replace(key, with: entry)
            #expect(transaction.isChanged == isChanged && transaction[key] == entry)
            if !isChanged { #expect((transaction.content == nil) == (content == nil)) }
        }
    }

    /// Two roots of two instances, each written twice.
    @Test func eachOwnerHasACheckOfEachOfItsRoots() throws {
        let transaction = Self.transaction()
        let owners = [Owner(), Owner()]
        var (made, asked): ([String], [String]) = ([], [])
        try transaction.run { transaction in
            for _ in 0..<2 {
                for root in ["R", "S"] {
                    for (number, owner) in owners.enumerated() {
                        transaction.beforeCommit(of: root, for: owner) {
                            made.append("\(root)\(number)")
                            return { _ in asked.append("\(root)\(number)") }
                        }
                    }
                }
            }
            #expect(asked == [])
        }
        #expect(made == ["R0", "R1", "S0", "S1"] && asked == made)
    }

    private struct Refused: Error, Equatable {
        var number = 0
    }

    /// The first check that rejects decides, and the others are not asked.
    @Test func theFirstRejectionCounts() {
        let (transaction, owner) = (Self.transaction(), Owner())
        var asked: [Int] = []
        #expect(throws: Refused(number: 1)) {
            try transaction.run { transaction in
                for number in 0..<3 {
                    transaction.beforeCommit(of: "\(number)", for: owner) {
                        { _ in
                            asked.append(number)
                            if number > 0 { throw Refused(number: number) }
                        }
                    }
                }
            }
        }
        #expect(asked == [0, 1])
    }

    // MARK: - Those of a thread

    /// A domain of this package, with transactions of backends around it and inside it.
    @Test func theThreadKnowsEachTransactionItIsIn() throws {
        let (outer, inner) = (Owner(), Owner())
        let queues = [TransactionQueue(), TransactionQueue()]
        func expect(_ owner: Transaction?, _ outerOwn: Transaction?, _ locks: [String]) {
            #expect(Transaction.current === owner && Transaction.current(of: outer) === outerOwn)
            for path in ["/a", "/b"] { #expect(Transaction.holdsLock(path) == locks.contains(path)) }
        }
        expect(nil, nil, [])
        let first = Transaction(of: outer, isForeign: true, content: nil)
        do {
            try first.run { _ in
                expect(nil, first, [])
                try queues[0].transact(durability: .process, begin: { Session(lockPath: "/a") }) { own in
                    expect(own, first, ["/a"])
                    #expect(queues[0].transaction === own && queues[1].transaction == nil)
                    let second = Transaction(of: inner, isForeign: true, content: nil)
                    try second.run { _ in
                        expect(own, first, ["/a"])
                        // Again of the outer backend: its first transaction counts.
                        let third = Transaction(
                            of: outer, isForeign: true, session: Session(lockPath: "/b"), content: nil)
                        try third.run { _ in
                            expect(own, first, ["/a", "/b"])
                            #expect(Transaction.current(of: inner) === second && queues[0].transaction === own)
                        }
                        expect(own, first, ["/a"])
                        #expect(throws: FileError.updateOfAnotherFile) {
                            try queues[1].transact(durability: .process, begin: { Session() }) { _ in }
                        }
                    }
                    expect(own, first, ["/a"])
                    // What has rejected the other file is caught here, and rolls this transaction back all the same.
                    #expect(own.hasFailed)
                    throw Refused()
                }
            }
            Issue.record("nothing was thrown")
        } catch is Refused {}
        expect(nil, nil, [])
    }

    /// The actions of several transactions wait until no lock is held.
    @Test func whatIsCollectedRunsInOrder() throws {
        let queue = TransactionQueue()
        var told: [Int] = []
        func update(_ numbers: Int...) throws {
            try queue.transact(durability: .process, begin: { Session() }) { transaction in
                for number in numbers { Transaction.afterwards { told.append(number) } }
                transaction["R"] = StoredValue(numbers[0])
            }
        }
        try ThreadState.current.collectingActions.run {
            try update(1, 2)
            try update(3)
            Transaction.afterwards { told.append(4) }
            try ThreadState.current.collectingActions.run { try update(5) }
            #expect(told == [])
        }
        #expect(told == [1, 2, 3, 4, 5])
        try update(6, 7)
        #expect(told == [1, 2, 3, 4, 5, 6, 7])
    }
}
