import Foundation
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// The errors that `prefsDidFail` has received.
final class Failures: Sendable {
    private let reported = Locked<[String]>([])

    func add(_ failure: String) { reported.withLock { $0.append(failure) } }

    var all: [String] { reported.withLock { $0 } }
}

extension PersistentPrefs {
    /// The value of a key in the store or in a layer; nil if the key is absent, unreadable or not allowed. Sets
    /// ``lastError`` as a read does.
    func effectiveValue(forKey key: String) -> StoredValue? {
        read(of: key, onlyIfAllowed: true) { try $0.value(forKey: key, &$1) } ?? nil
    }
}

/// Records every error that it receives.
class RecordingPrefs: PersistentPrefs, @unchecked Sendable {
    private let failures = Failures()

    override func prefsDidFail(_ error: PrefsError) { failures.add("\(error)") }

    var errors: [String] { failures.all }
}

/// A subclass with keys of the test's choice.
final class AnyPrefs: RecordingPrefs, @unchecked Sendable {
    private let names: [String]

    init(_ names: [String] = ["a", "b", "c"], key: String? = nil, values: [String: Any]? = nil, store: PrefsStore) {
        self.names = names
        super.init(key: key, values: values, store: store)
    }

    override var allowedKeys: [String] { names }
}

/// What the body of an update throws.
struct Stop: Error {}

extension TemporaryFolder {
    /// A new folder, for a property of a suite. Without one, the run ends.
    static var fresh: TemporaryFolder {
        do { return try TemporaryFolder() } catch { fatalError("\(error)") }
    }

    /// Prefs on a file in the folder.
    func prefs(_ name: String = "test.plist", system: SystemCalls = .real) -> AnyPrefs {
        AnyPrefs(store: .propertyList(url: file(name), system: system))
    }

    /// Replaces the file by text that is not a property list.
    func damage(_ text: String = "hello") throws {
        try Data(text.utf8).write(to: file())
    }

    /// The names of the quarantined files.
    func quarantined() throws -> [String] {
        try names().filter { $0.hasPrefix("test.plist.corrupt-") }
    }
}

extension PersistentPrefs {
    /// The text of `lastError`, or "ok".
    var outcome: String { lastError.map { "\($0)" } ?? "ok" }

    /// The values as whole numbers; other values are left out.
    var ints: [String: Int] { values.compactMapValues { $0 as? Int } }
}

extension PrefsError {
    /// The detail of an error of one case, such as the file of `.damaged`; nil for an error of another case.
    func detail<Detail>(of makeError: (Detail) -> PrefsError) -> Detail? {
        let detail = Mirror(reflecting: self).children.first?.value as? Detail
        return detail.flatMap { makeError($0) == self ? $0 : nil }
    }
}

extension PersistentPrefs {
    /// The store of this instance, for another instance.
    var ownStore: PrefsStore { PrefsStore(state.roots) }
}

extension PrefsStore {
    /// Whether a root has observers.
    var isFollowed: Bool { (try? roots.requiredDomain() as? MemoryDomain)?.feed.hasObservers == true }
}

extension RecordingSystemCalls {
    /// Fails one flush, by its number from now. A flush of the folder comes after that of the file.
    func failFlush(_ number: Int) {
        var flushes = 0
        onCall = { name throws(StorageFailure) in
            guard name == "fsync" else { return }
            flushes += 1
            if flushes == number { throw StorageFailure("fsync", "", code: EIO) }
        }
    }
}
