import Foundation
import PersistentPreferences
import PrefsJSON

/// A root as etcd has it in some revision.
struct StoredRoot {
    /// The revision of its last change; 0 if it is missing.
    private(set) var modified: Int64
    /// Its JSON; nil if it is missing.
    let data: Data?
    /// Made once: instances compare their storage.
    private var values: Result<RootValues?, PrefsError>?

    /// - Parameter found: nil if the root is missing.
    init(_ found: EtcdKeyValue?) {
        modified = found?.modified ?? 0
        data = found?.bytes
    }

    /// What an update makes of a root; nil for a removal.
    init(_ values: RootValues?) throws {
        modified = .max
        data = try values.map { try ExportFormat.json.data(of: $0) }
        self.values = .success(values)
    }

    static var missing: StoredRoot { StoredRoot(nil as EtcdKeyValue?) }

    func modified(in revision: Int64) -> StoredRoot {
        var root = self
        root.modified = revision
        return root
    }

    /// What a transaction compares.
    var revisionInEtcd: Int64 { data == nil ? 0 : modified }

    /// Whether etcd had the same bytes, from the same change. A cluster that was restored from a copy uses revisions again.
    func isSame(as other: StoredRoot) -> Bool { modified == other.modified && data == other.data }

    var bytes: Int { data?.count ?? 0 }

    /// The values; nil if the root is missing. Reads the JSON once.
    ///
    /// - Throws: `PrefsError.rootIsNotDictionary`, or `PrefsError.unreadable` for what is not JSON.
    mutating func values(of root: String, in keys: EtcdKeys) throws(PrefsError) -> RootValues? {
        try result(of: root, in: keys).get()
    }

    /// As `values`. A missing root is a success.
    mutating func result(of root: String, in keys: EtcdKeys) -> Result<RootValues?, PrefsError> {
        let result = values ?? parse(root, keys)
        values = result
        return result
    }

    private func parse(_ root: String, _ keys: EtcdKeys) -> Result<RootValues?, PrefsError> {
        guard let data else { return .success(nil) }
        do throws(PrefsError) {
            let values = try ExportFormat.values(of: data)
            let isJSON = data.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "{")
            return isJSON ? .success(values) : .failure(keys.unreadable(root, "expected JSON, found a property list"))
        } catch {
            guard case .invalidImport(let reason) = error else { return .failure(error) }
            // Any JSON can be the value of a member.
            let member = try? ExportFormat.values(of: Data(#"{"x": "#.utf8) + data + Data("}".utf8))
            return .failure(member?.count == 1 ? .rootIsNotDictionary(key: root) : keys.unreadable(root, reason))
        }
    }
}
