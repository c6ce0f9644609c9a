import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// A root as etcd has it in some revision.
struct StoredRoot {
    /// The revision of its last change; 0 if it is missing.
    private(set) var modified: Int64
    private let data: Data?
    private var parsed: Result<[String: StoredValue]?, PrefsError>?
    private var objects: [String: Any]?

    /// - Parameter found: nil if the root is missing.
    init(_ found: EtcdKeyValue?) {
        modified = found?.modified ?? 0
        data = found?.bytes
    }

    /// A root whose values are known.
    init(_ values: [String: StoredValue]?, modified: Int64) {
        self.modified = modified
        data = nil
        parsed = .success(values)
    }

    func modified(in revision: Int64) -> StoredRoot {
        var root = self
        root.modified = revision
        return root
    }

    /// Whether etcd had the same bytes, from the same change. A cluster that was restored from a copy uses revisions again.
    func isSame(as other: StoredRoot) -> Bool { modified == other.modified && data == other.data }

    static var missing: StoredRoot { StoredRoot(nil) }

    /// The values; nil if the root is missing. Reads the JSON once.
    ///
    /// - Throws: `PrefsError.rootIsNotDictionary`, or `PrefsError.unreadable` for what is not JSON.
    mutating func values(of root: String, in keys: EtcdKeys) throws(PrefsError) -> [String: StoredValue]? {
        let result = parsed ?? parse(root, keys)
        parsed = result
        return try result.get()
    }

    /// The values as objects, which are made once: instances compare their storage.
    mutating func objects(of root: String, in keys: EtcdKeys) throws(PrefsError) -> [String: Any]? {
        if objects == nil { objects = try values(of: root, in: keys)?.objects }
        return objects
    }

    private func parse(_ root: String, _ keys: EtcdKeys) -> Result<[String: StoredValue]?, PrefsError> {
        guard let data else { return .success(nil) }
        do throws(PrefsError) {
            let value = try ExportFormat.value(ofJSON: data)
            return value.dictionary.map { .success($0) } ?? .failure(.rootIsNotDictionary(key: root))
        } catch {
            guard case .invalidImport(let reason) = error else { return .failure(error) }
            return .failure(.unreadable(StorageFailure(path: "etcd key \(keys.prefix)r/\(root)", reason: reason)))
        }
    }
}
