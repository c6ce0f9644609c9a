import Foundation
import PrefsPropertyLists
import Testing
import TestSupport

@testable import PrefsFileEngine

/// The values under one root of a file, through the engine alone. They are read (first in the initializer), changed and
/// confirmed as the base class and its stores do.
final class FileRoot: @unchecked Sendable {
    static let key = "Root"

    let location: FileLocation
    private let durability: CommitDurability
    private let lock = NSLock()
    private var told: [FileError] = []
    private var last: FileError?

    init(
        _ path: String, format: FileFormat = .binary, durability: CommitDurability = .powerCut,
        system: SystemCalls = .real
    ) {
        location = FileLocation(path: path, system: system) { $0.formatOfNewFile = format }
        self.durability = durability
        _ = values
    }

    /// The report of the last access, also if it succeeded.
    var lastError: FileError? { lock.withLock { last } }

    /// All reports of accesses.
    var errors: [FileError] { lock.withLock { told } }

    /// The text of the last report, or "ok".
    var outcome: String { lastError?.text ?? "ok" }

    subscript(key: String) -> Any? {
        get { values[key] }
        set { change { $0[key] = newValue } }
    }

    var values: [String: Any] {
        get {
            var found: [String: Any] = [:]
            access {
                let reading = try location.read()
                found = Self.root(of: reading.content) ?? [:]
                return reading.warning
            }
            return found
        }
        set { change { $0 = newValue } }
    }

    /// The values as whole numbers; other values are left out.
    var ints: [String: Int] { values.compactMapValues { $0 as? Int } }

    /// Runs the closure in one transaction: its accesses on this thread take part in it.
    @discardableResult
    func update(_ body: () throws -> Void) -> FileError? {
        access {
            try location.transact(durability: durability) { _ in try body() }
            return try location.withFile { $0.takeWarning() }
        }
        return lastError
    }

    func deleteAll() {
        update {
            try location.transact(durability: durability) { $0.replace(Self.key, with: nil) }
        }
    }

    /// Changes the values. An equal write to a state that is as durable as required changes nothing.
    private func change(_ body: (inout [String: Any]) -> Void) {
        access {
            let reading = try location.read(.ofWrite)
            if let before = Self.root(of: reading.content) {
                var after = before
                body(&after)
                if try Self.stored(before) == Self.stored(after), reading.durability >= durability { return nil }
            }
            try location.transact(durability: durability) { transaction in
                var values = Self.root(of: transaction.content) ?? [:]
                body(&values)
                transaction[Self.key] = try Self.stored(values)
            }
            return try location.withFile { $0.takeWarning() }
        }
    }

    private static func stored(_ values: [String: Any]) throws -> StoredValue {
        try PropertyListVetter.value(of: values)
    }

    private static func root(of content: PropertyListFile.Content?) -> [String: Any]? {
        content?[key]?.dictionary?.objects
    }

    /// - Parameter body: returns a warning.
    private func access(_ body: () throws -> FileError?) {
        var error: FileError?
        do {
            error = try body()
        } catch let failure as FileError {
            error = failure
        } catch {
            Issue.record("\(error)")
        }
        lock.withLock {
            last = error
            if let error { told.append(error) }
        }
    }
}

extension FileError {
    /// Whether the access has succeeded.
    var isWarning: Bool {
        switch self {
        case .damaged(let file): file.quarantinedAs != nil
        case .nearLimit: true
        default: false
        }
    }

    /// The report of a damaged or foreign file.
    var report: MalformedFile? {
        switch self {
        case .damaged(let file), .notOurs(let file): file
        default: nil
        }
    }

    var text: String {
        switch self {
        case .unreadable(let failure): "unreadable: \(failure)"
        case .notStored(let failure): "not stored: \(failure)"
        case .busy(let failure): "busy: \(failure)"
        case .outcomeUnknown(let failure): "unknown: \(failure)"
        case .durabilityUnconfirmed(let failure): "not confirmed: \(failure)"
        case .damaged(let file): "\(file.quarantinedAs == nil ? "damaged" : "quarantined"): \(file.place)"
        case .notOurs(let file): "not ours: \(file.place)"
        case .updateOfAnotherFile, .writeInsideRead, .nearLimit, .pathChanged: "\(self)"
        }
    }
}

/// Runs a write that must fail for the reason.
func expectNotStored(_ reason: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
    let error = #expect(throws: FileError.self, sourceLocation: sourceLocation) { try body() }
    guard case .notStored(let failure)? = error else {
        Issue.record("\(error?.text ?? "stored")", sourceLocation: sourceLocation)
        return
    }
    #expect(failure.reason == reason, sourceLocation: sourceLocation)
}

/// The base class of suites whose tests have a folder of their own.
class FolderSuite {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }
}

extension TemporaryFolder {
    /// The names of quarantined files.
    var quarantined: [String] { get throws { try names().filter { $0.contains(".corrupt-") } } }

    /// The mode of a file in the folder.
    func permissions(_ name: String = "test.plist") throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file(name).path)[.posixPermissions] as? Int
    }

    /// A root of a file in the folder.
    func root(_ name: String = "test.plist", system: SystemCalls = .real) -> FileRoot {
        FileRoot(path + "/" + name, system: system)
    }
}

extension FileLocation {
    /// Restores the bytes before a commit, as the tool's `undo` does.
    func revert(_ commit: FileReplacement) throws {
        try withFile { file in
            let locked = try file.beginReplacement()
            defer { locked.end() }
            try locked.revert(commit)
        }
    }
}
