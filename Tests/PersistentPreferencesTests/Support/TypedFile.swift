import Foundation
import PersistentPreferences
import PrefsStoreKit
import PropertyListSupport
import TestSupport

/// A file with one root, made and read without the classes under test.
struct TypedFile {
    static let root = "Root"

    let folder: TemporaryFolder
    let store: PrefsStore

    init(_ values: [String: Any]? = nil) throws {
        folder = try TemporaryFolder()
        store = PrefsStore.propertyList(url: folder.file(), durability: .crash)
        if let values { try put(values) }
    }

    func put(_ values: [String: Any]) throws {
        try store.update(root: Self.root) { $0 = values }
    }

    /// The bytes on the disk.
    var bytes: Data {
        get throws { try Data(contentsOf: folder.file()) }
    }

    /// The values under the root on the disk, read by Foundation alone.
    var stored: String {
        get throws { try propertyList(at: folder.file())[Self.root].map { exactForm(withTextKeys($0)) } ?? "nothing" }
    }

    /// The inode number, which changes with each replacement of the file.
    var fileNumber: Int? {
        get throws { try FileManager.default.attributesOfItem(atPath: folder.file().path)[.systemFileNumber] as? Int }
    }
}

/// The exact form of plain values once they have been in a property list.
func exactly(_ values: [String: Any]) throws -> String {
    let data = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    return exactForm(withTextKeys(try PropertyListSerialization.propertyList(from: data, options: [], format: nil)))
}
