public import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// Loads and saves the models of a property list: the elements of an array, or one dictionary.
///
/// ```swift
/// import PrefsSettingsFiles
///
/// let quotes = try PropertyListController<Quote>(url: folder.appending(path: "Quotes.plist"))
/// quotes.models.append(Quote(author: "Seneca", text: "…"))
/// try quotes.save()
/// ```
///
/// A model is a ``PropertyListModel`` or Codable. Follows `DataController`.
///
/// ## Behavior
/// With a URL, it loads that file and saves to it. With a folder, it loads the file there or, if it is missing, the
/// file in the bundle, and saves to the folder. Without a folder, it only reads the bundle. If the root is an array,
/// each element is a model. If the root is a dictionary, it is the only model, and a save stores it as a dictionary
/// again. A new file has an array. A save drops the keys that the model does not encode.
///
/// ## Performance
/// Loading reads the file. A save replaces it and flushes it and its folder; equal models are not written again.
///
/// ## Errors
/// A save fails with ``PrefsError/notStored(_:)`` if the file has changed since it was loaded or saved, or if its
/// folder is missing.
///
/// ## Threads
/// One thread or actor at a time.
public final class PropertyListController<Model> {
    /// The models, in the order of the file.
    public var models: [Model]
    /// The file that the models are saved to; without a folder, the file that they were read from.
    public let url: URL
    private let coding: PrefCoding<Model>
    /// nil without a folder.
    private let document: PropertyListDocument?
    /// The root in the file; nil if there is no file.
    private var saved: StoredValue?
    /// Whether the root is a dictionary.
    private let hasOneModel: Bool

    /// Loads the models of a file, which need not exist before the first save.
    ///
    /// - Parameter url: a file URL.
    /// - Throws: ``PrefsError`` if the file cannot be read or is malformed; ``PropertyListFailure`` with index and key
    ///   if a model cannot be created. The file is not changed.
    public convenience init(url: URL) throws where Model: PropertyListModel {
        try self.init(url: url, initial: nil, .ofModel)
    }

    /// Loads the Codable models of a file. A model that is only read may be Decodable.
    @_disfavoredOverload
    public convenience init(url: URL) throws where Model: Decodable {
        try self.init(url: url, initial: nil, .ofCodable)
    }

    /// Loads the models of `NAME.plist` in a folder or, if it is missing there, in a bundle.
    ///
    /// - Parameters:
    ///   - name: the file's name, without `.plist`.
    ///   - bundle: the bundle with the initial file. If the file is missing there and in the folder, there are no
    ///     models.
    ///   - folder: a file URL; the folder need not exist before the first save. nil reads the bundle only; then the
    ///     file must exist.
    /// - Throws: ``PrefsError`` if the file cannot be read or is malformed; ``PropertyListFailure`` with index and key
    ///   if a model cannot be created. The file is not changed.
    public convenience init(resource name: String, in bundle: Bundle = .main, folder: URL? = nil) throws
    where Model: PropertyListModel {
        try self.init(name, bundle, folder, .ofModel)
    }

    /// Loads Codable models of `NAME.plist` in a folder or, if it is missing there, in a bundle. A model that is only
    /// read may be Decodable.
    @_disfavoredOverload
    public convenience init(resource name: String, in bundle: Bundle = .main, folder: URL? = nil) throws
    where Model: Decodable {
        try self.init(name, bundle, folder, .ofCodable)
    }

    private convenience init(_ name: String, _ bundle: Bundle, _ folder: URL?, _ coding: PrefCoding<Model>) throws {
        let bundled = bundle.url(forResource: name, withExtension: "plist")
        guard folder != nil || bundled != nil else {
            let path = bundle.bundleURL.appending(path: name + ".plist").path(percentEncoded: false)
            throw PrefsError.unreadable(StorageFailure(path: path, reason: "there is no such resource"))
        }
        try self.init(
            url: folder?.appending(path: name + ".plist", directoryHint: .notDirectory), initial: bundled, coding)
    }

    /// - Parameters:
    ///   - url: the file; nil for models that are only read.
    ///   - initial: is read if the file is missing.
    private init(url: URL?, initial: URL?, _ coding: PrefCoding<Model>) throws {
        self.coding = coding
        document = try url.map { try PropertyListDocument(url: $0) }
        let (stored, failure) = try document?.read() ?? (nil, nil)
        if let failure { throw failure }
        saved = stored
        let root = try stored ?? initial.map { try PropertyListDocument.contents(ofResource: $0).root }
        guard let place = url ?? initial else { preconditionFailure("there is neither a file nor a resource") }
        self.url = place
        hasOneModel = root?.dictionary != nil
        models = try root.map { try Self.models(of: $0, coding) } ?? []
    }

    /// Saves the models to the folder. Equal models are not written again.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/notStored(_:)`` if the file has changed since it was loaded
    ///   or saved; ``PropertyListFailure`` with index and key if a model cannot be stored; and what a model throws.
    ///   Then the file is unchanged.
    public func save() throws {
        guard let document else {
            let path = url.path(percentEncoded: false)
            throw PrefsError.notStored(StorageFailure(path: path, reason: "was read without a folder to save to"))
        }
        let root = try root()
        try document.write(root, inPlaceOf: saved)
        saved = root
    }

    private func root() throws -> StoredValue {
        guard hasOneModel else {
            return .array(
                try models.enumerated().map { index, model in
                    try PropertyListFailure.inside(index) { try encoded(model) }
                })
        }
        guard models.count == 1, let model = models.first else {
            let reason = "expected one model, because the root is a dictionary, found \(models.count)"
            throw PropertyListFailure(path: "", topLevelKey: "", reason: reason)
        }
        return try encoded(model)
    }

    private func encoded(_ model: Model) throws -> StoredValue {
        guard let value = try coding.encode(model) else {
            throw PropertyListFailure(path: "", topLevelKey: "", reason: "the model encodes no value")
        }
        return value
    }

    private static func models(of root: StoredValue, _ coding: PrefCoding<Model>) throws -> [Model] {
        if root.dictionary != nil { return [try coding.decode(root)] }
        guard let elements = root.array else {
            let reason = "expected an array or a dictionary, found \(ValueMismatch.kind(of: root))"
            throw PropertyListFailure(path: "", topLevelKey: "", reason: reason)
        }
        return try elements.enumerated().map { index, element in
            try PropertyListFailure.inside(index) { try coding.decode(element) }
        }
    }
}

extension PropertyListFailure {
    /// Adds an index to the path of a failure.
    fileprivate static func inside<R>(_ index: Int, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let failure as PropertyListFailure {
            let separator = failure.path.isEmpty || failure.path.hasPrefix("[") ? "" : "."
            throw PropertyListFailure(
                path: "[\(index)]\(separator)\(failure.path)", topLevelKey: failure.topLevelKey, reason: failure.reason)
        }
    }
}
