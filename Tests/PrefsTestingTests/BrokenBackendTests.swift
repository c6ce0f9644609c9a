import EngineSupport
import Foundation
import PersistentPreferences
import PrefsStoreKit
import PrefsStoreKit
import TestSupport
import Testing

/// The checks detect faults. A backend that breaks one rule fails the checks of this rule and no others.
@Suite(.waits) struct BrokenBackendTests {
    private static let checks = StoreCheck.all + StoreCheck.observing + StoreCheck.remote

    @Test(arguments: Fault.allCases)
    func aFaultFailsItsOwnCheck(_ fault: Fault) throws {
        var failed: [String] = []
        for check in Self.checks {
            let place = BrokenPlace(fault)
            do {
                try check.run(threads: 4, updates: 50, patience: fault.patience) { BrokenBackend(place) }
            } catch {
                failed.append(check.id)
                #expect("\(error)".contains(fault.expected.finding), "\(error)")
            }
        }
        #expect(failed == fault.expected.checks)
    }

    @Test func eachCheckSeesAFault() {
        let seen = Set(Fault.allCases.flatMap(\.expected.checks))
        #expect(Set(Self.checks.map(\.id)).subtracting(seen).isEmpty)
    }

    @Test func theCheckOfUnreadablePlacesSeesAFault() throws {
        let folder = try TemporaryFolder()
        let (file, away) = (folder.file(), folder.file("away"))
        @Sendable func isBroken() -> Bool { FileManager.default.fileExists(atPath: away.path) }
        func check(_ make: @escaping @Sendable (PrefsStore) -> any PrefsBackend) throws {
            try StoreCheck.unreadableThrows {
                make(PrefsStore.propertyList(url: file))
            } breaking: {
                try FileManager.default.moveItem(at: file, to: away)
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            } mending: {
                guard isBroken() else { return }
                try FileManager.default.removeItem(at: file)
                try FileManager.default.moveItem(at: away, to: file)
            }
        }
        try check { CheckedStore($0) }
        for (forgiven, finding) in [
            (Forgiven.read, "Expected an error of a read of an unreadable place, found no error."),
            (.current, "Expected an error of current of an unreadable place, found no error."),
            (.update, "Expected an error of an update of an unreadable place, found no error."),
            (.everythingAfterwards, "Expected [a: 1] when the place can be read again, found nil."),
        ] {
            let rule = "unreadableThrows: Missing is nil; unreadable throws, and nothing changes. "
            let hasFailed = Locked(false)
            let failure = #expect(throws: (any Error).self) {
                try check { ForgivingBackend($0, forgiven, hasFailed) }
            }
            #expect(failure.map { "\($0)" } == rule + finding)
            for file in [file, away] { try? FileManager.default.removeItem(at: file) }
        }
    }
}

/// What treats an unreadable root as missing.
private enum Forgiven {
    case read, current, update
    /// Everything, once an update has failed.
    case everythingAfterwards
}

private final class ForgivingBackend: RemotePrefsBackend {
    private let store: PrefsStore
    private let forgiven: Forgiven
    private let hasFailed: Locked<Bool>

    init(_ store: PrefsStore, _ forgiven: Forgiven, _ hasFailed: Locked<Bool>) {
        (self.store, self.forgiven, self.hasFailed) = (store, forgiven, hasFailed)
    }

    func read(root: String) throws -> [String: Any]? {
        if forgiven == .read { return try? store.read(root: root) }
        return try hasFailed.withLock { $0 } ? nil : store.read(root: root)
    }

    func current(root: String) throws -> [String: Any]? {
        forgiven == .current ? try? store.read(root: root) : try read(root: root)
    }

    func lastKnown(root: String) -> [String: Any]? { nil }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        do {
            try store.update(root: root, body)
        } catch {
            if forgiven == .update { return }
            if forgiven == .everythingAfterwards { hasFailed.withLock { $0 = true } }
            throw error
        }
    }
}
