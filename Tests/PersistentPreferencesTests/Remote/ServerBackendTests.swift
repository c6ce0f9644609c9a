import Dispatch
import Foundation
import PersistentPreferences
import PrefsPropertyLists
import PrefsStoreKit
import TestSupport
import Testing

/// A remote backend that uses only the public API.
@Suite struct ServerBackendTests {
    @Test(arguments: StoreCheck.all + StoreCheck.remote)
    func conforms(_ check: StoreCheck) throws {
        let backend = ServerBackend(MemoryServer())
        try check.run { backend }
    }

    @Test func unreadableThrows() throws {
        let server = MemoryServer()
        try StoreCheck.unreadableThrows(
            { ServerBackend(server) }, breaking: { server.isDown = true }, mending: { server.isDown = false })
    }

    @Test func aReadDuringAnOutageReturnsTheLastKnownState() {
        let server = MemoryServer()
        let prefs = FramePrefs(store: .backend(ServerBackend(server)))
        prefs.width = 7
        server.isDown = true
        #expect(prefs.width == 7)
        #expect(prefs.lastError.map(Self.isUnreadable) == true)
        prefs.width = 8
        #expect(prefs.lastError.map(Self.isUnreadable) == true, "no write starts from the last known state")
        let other = FramePrefs(store: .backend(ServerBackend(server)))
        #expect(other.width == 1, "it knows nothing, and reads the default")
        #expect(other.lastError.map(Self.isUnreadable) == true)
        server.isDown = false
        #expect(prefs.width == 7)
    }

    /// It hears what is different after the outage.
    @Test func anObserverThatStartsDuringAnOutageStartsWithTheLastKnownState() {
        let backend = ToldBackend()
        let prefs = FramePrefs(store: .backend(backend))
        prefs.width = 7
        backend.isDown.withLock { $0 = true }
        let heard = Locked<[[Int]]>([])
        let told = DispatchSemaphore(value: 0)
        let observation = prefs.$width.onChange { old, new in
            heard.withLock { $0.append([old, new]) }
            told.signal()
        }
        backend.isDown.withLock { $0 = false }
        prefs.width = 8
        #expect(told.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
        #expect(heard.withLock { $0 } == [[7, 8]])
        observation.cancel()
    }

    @Test func aChangeThatABackendReportsHasItsValuesAndItsCount() {
        let change = PrefsChange(root: "r", from: ["a": 1], to: ["a": 2, "b": 3], origin: .elsewhere, count: 3)
        #expect(change?.count == 3 && change?.origin == .elsewhere && change?.root == "r")
        #expect(
            change?.oldValues as NSDictionary? == ["a": 1] && change?.newValues as NSDictionary? == ["a": 2, "b": 3])
    }

    @Test func theValuesThatABackendRejectsAreProblemsWithTheirReasons() {
        let problems = PrefsError.valuesNotPlistCompatible(reasons: ["b": "is too long", "a": "is odd"]).problems
        #expect(
            problems.map { [$0.path, $0.topLevelKey, $0.reason] } == [
                ["a", "a", "is odd"], ["b", "b", "is too long"],
            ])
    }

    @Test func anAssignmentIsComparedWithTheServer() {
        let server = MemoryServer()
        let (one, other) = (
            FramePrefs(store: .backend(ServerBackend(server))),
            FramePrefs(store: .backend(ServerBackend(server)))
        )
        one.width = 2
        #expect(other.width == 2)
        other.width = 3
        let puts = server.puts
        one.width = 3
        #expect(server.puts == puts, "it is stored already")
        one.width = 2
        #expect(other.width == 2)
        #expect(server.puts == puts + 1)
    }

    @Test func aRejectedAssignmentUndoesTheUpdateOfTheStore() throws {
        let server = MemoryServer()
        let store = PrefsStore.backend(ServerBackend(server))
        let prefs = FramePrefs(store: store)
        prefs.width = 2
        #expect(throws: PrefsError.self) {
            try store.update(root: prefs.key) { root in
                root?["width"] = 3
                prefs.values["depth"] = 4
            }
        }
        #expect(prefs.width == 2)
    }

    /// The store has released its lock by then.
    @Test func aHandlerOfErrorsRunsAfterTheUpdate() throws {
        let store = PrefsStore.backend(ServerBackend(MemoryServer()))
        let prefs = FramePrefs(store: store)
        let isStored = DispatchSemaphore(value: 0)
        let observation = prefs.onError { _ in
            let thread = Thread {
                try? store.update(root: "log") { $0 = ["errors": 1] }
                isStored.signal()
            }
            thread.start()
            #expect(isStored.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
        }
        _ = prefs.update {
            prefs.width = 2
            prefs["depth"] = 4
        }
        #expect(try store.read(root: "log")?["errors"] as? Int == 1)
        #expect(prefs.width == 1)
        observation.cancel()
    }

    @Test func aRejectedAssignmentAsksNobody() {
        let server = MemoryServer()
        let prefs = FramePrefs(store: .backend(ServerBackend(server)))
        prefs.width = 2
        let requests = server.requests
        prefs["depth"] = 4
        #expect(prefs.lastError != nil)
        #expect(server.requests == requests)
    }

    private static func isUnreadable(_ error: PrefsError) -> Bool {
        if case .unreadable = error { true } else { false }
    }
}

private final class FramePrefs: Prefs, @unchecked Sendable {
    @Pref var width = 1
}

/// A remote backend that tells of changes.
private final class ToldBackend: RemotePrefsBackend {
    private let store = PrefsStore.memory()
    let isDown = Locked(false)

    func read(root: String) throws -> [String: Any]? {
        let isDown = isDown.withLock { $0 }
        if isDown { throw PrefsError.unreadable(StorageFailure(path: "server", reason: "is down")) }
        return try store.read(root: root)
    }

    func current(root: String) throws -> [String: Any]? { try read(root: root) }
    func lastKnown(root: String) -> [String: Any]? { try? store.read(root: root) }

    func update(root: String, _ body: (inout [String: Any]?) throws -> Void) throws {
        try store.update(root: root, body)
    }

    func observe(root: String, _ action: @escaping @Sendable (PrefsChange) -> Void) throws -> PrefsObservation {
        try store.observe(root: root, action)
    }
}

/// A server in this process.
private final class MemoryServer: Server, @unchecked Sendable {
    private struct Down: Error {}

    private let lock = NSLock()
    private var entries: [String: (data: Data, version: Int)] = [:]
    private var version = 0
    private var counts = (requests: 0, puts: 0)
    private var down = false

    var isDown: Bool {
        get { lock.withLock { down } }
        set { lock.withLock { down = newValue } }
    }

    var requests: Int { lock.withLock { counts.requests } }
    var puts: Int { lock.withLock { counts.puts } }

    func get(_ key: String) throws -> (data: Data, version: Int)? {
        try answer { entries[key] }
    }

    func put(_ changes: [String: Data?], ifVersions versions: [String: Int]) throws -> Int? {
        try answer {
            guard versions.allSatisfy({ entries[$0]?.version ?? 0 == $1 }) else { return nil }
            counts.puts += 1
            version += 1
            for (key, data) in changes { entries[key] = data.map { ($0, version) } }
            return version
        }
    }

    private func answer<R>(_ body: () -> R) throws -> R {
        try lock.withLock {
            if down { throw Down() }
            counts.requests += 1
            return body()
        }
    }
}
