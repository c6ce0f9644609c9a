import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// A property list with any root, read and written through the engine: locked, atomic, cached.
struct PropertyListDocument: Sendable {
    private let file: FileLocation
    private let path: String

    /// - Parameter format: the format of the file if a write creates it.
    /// - Throws: `PrefsError.invalidName` if the URL names no file.
    init(url: URL, format: FileFormat = .binary, system: SystemCalls = .real) throws(PrefsError) {
        path = try NameVetting.path(of: url)
        file = FileLocation(path: path, holds: .document, system: system) { $0.formatOfNewFile = format }
    }

    private static let open = Locked([URL: PropertyListDocument]())
    /// The most files that are kept open. Each holds a descriptor.
    private static let capacity = 64

    /// A document that stays open for the next access.
    static func kept(at url: URL, format: FileFormat) throws(PrefsError) -> PropertyListDocument {
        if let document = open.withLock({ $0[url] }) { return document }
        let document = try PropertyListDocument(url: url, format: format)
        open.withLock {
            if $0.count >= capacity { $0 = [:] }
            $0[url] = document
        }
        return document
    }

    /// The root; nil if there is no file. For a malformed file, the newest known root and the error. The format is that of
    /// the file, or of a new one.
    ///
    /// - Throws: `PrefsError`.
    func read() throws -> (root: StoredValue?, failure: PrefsError?, format: FileFormat?) {
        try PrefsError.converting {
            let reading = try file.read(.untilSaved)
            return (
                reading.content?[TopLevel.documentKey],
                reading.warning.map { PrefsError($0) }.flatMap { $0.isWarning ? nil : $0 }, reading.format
            )
        }
    }

    /// Replaces the root, unless it is equal, or removes the file. The change is on disk when the call returns. A
    /// damaged file is quarantined, unless a person has made a mistake in JSON or XML.
    ///
    /// - Parameters:
    ///   - root: nil removes the file.
    ///   - keepsOther: whether the current file is kept under another name, beside the new one.
    ///   - isExplicit: whether a malformed file that is not ours is quarantined, instead of a rejection.
    ///   - check: gets the current root while the file is locked; nil if there is no file. An error that it throws
    ///     stops the write.
    func write(
        _ root: StoredValue?, keepsOther: Bool = false, isExplicit: Bool = false,
        _ check: (_ now: StoredValue?) throws -> Void = { _ in }
    ) throws {
        try PrefsError.converting {
            func change() throws {
                try file.transact(durability: .powerCut) { transaction in
                    let now = transaction[TopLevel.documentKey]
                    try check(now)
                    if keepsOther, now != root { transaction.reasonToKeepFormer = "had values of another type" }
                    transaction.replace(TopLevel.documentKey, with: root)
                }
            }
            if isExplicit { try file.replacingMalformedFile(isForeign: true, change) } else { try change() }
        }
    }

    /// Compares roots as every format stores them, because XML rounds dates.
    private static func areSame(_ left: StoredValue?, _ right: StoredValue?) -> Bool {
        func rounded(_ root: StoredValue) -> StoredValue? { FileFormat.plainXML.coder.storable(["": root])[""] }
        return left == right || left.flatMap(rounded) == right.flatMap(rounded)
    }

    /// Replaces the root if it still is the root that the new one was made from.
    ///
    /// - Parameter base: nil if there was no file.
    /// - Throws: `PrefsError.notStored` if the root has changed.
    func write(_ root: StoredValue, inPlaceOf base: StoredValue?) throws {
        try write(root) { now in
            if Self.areSame(now, base) { return }
            let reason = "was changed since it was read"
            throw PrefsError.notStored(StorageFailure(path: path, reason: reason))
        }
    }

    /// The root and the format of a file that comes with the program and is never written.
    ///
    /// - Parameter format: the format of the settings file. The resource may be in this format, or a property list.
    static func contents(
        ofResource url: URL, for format: FileFormat = .binary
    ) throws(PrefsError) -> (root: StoredValue, format: FileFormat) {
        let path = url.path(percentEncoded: false)
        let bytes: Data
        do {
            bytes = try Data(contentsOf: url)
        } catch {
            throw .unreadable(StorageFailure(path: path, reason: "cannot be read: \(error.localizedDescription)"))
        }
        do {
            let list = try PropertyListCoder.decode(bytes, as: .propertyLists + [format])
            return (list.value, list.format)
        } catch {
            throw .unreadable(StorageFailure(path: path, reason: "\(error)"))
        }
    }
}
