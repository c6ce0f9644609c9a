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
        func check(_ make: @escaping @Sendable (PrefsStore) -> any PrefsBackend) throws {
            try StoreCheck.unreadableThrows {
                make(PrefsStore.propertyList(url: file))
            } breaking: {
                try FileManager.default.moveItem(at: file, to: away)
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            } mending: {
                guard FileManager.default.fileExists(atPath: away.path) else { return }
                try FileManager.default.removeItem(at: file)
                try FileManager.default.moveItem(at: away, to: file)
            }
        }
        try check { CheckedStore($0) }
        #expect {
            try check { ForgivingBackend($0) }
        } throws: {
            "\($0)" == """
                unreadableThrows: Missing is nil; unreadable throws, and nothing changes. Expected an error of a read of an \
                unreadable place, found no error.
                """
        }
    }
}

/// Treats an unreadable root as missing.
private final class ForgivingBackend: PrefsBackend {
    private let store: PrefsStore

    init(_ store: PrefsStore) {
        self.store = store
    }

    func read(root: String) throws -> [String: Any]? {
        try? store.read(root: root)
    }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.update(root: root, body)
    }
}
