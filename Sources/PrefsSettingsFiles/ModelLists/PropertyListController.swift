public import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// Loads and saves the models of a property list: the elements of an array, or one dictionary.
///
/// ```swift
/// import PrefsSettingsFiles
///
/// struct Quote: Codable { var author: String, text: String }
///
/// let quotes = try PropertyListController<Quote>(url: folder.appending(path: "Quotes.plist"))
/// quotes.models.append(Quote(author: "Seneca", text: "…"))
/// try quotes.save()
/// ```
///
/// A model is a ``PropertyListModel`` or Decodable; one that is saved is also Encodable. Follows `DataController`.
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
    public var models: [Model] = []
    /// The file that the models are saved to; without a folder, the file that they were read from.
    public let url: URL
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
        try self.init(url: url, initial: nil) { try Model(PropertyListDictionary($0)) }
    }

    /// Loads the Decodable models of a file.
    @_disfavoredOverload
    public convenience init(url: URL) throws where Model: Decodable {
        try self.init(url: url, initial: nil) { try StoredValueDecoder.value(Model.self, from: $0) { nil }.value }
    }

    /// Loads the models of `NAME.plist` in a folder or, if it is missing there, in a bundle.
    ///
    /// - Parameters:
    ///   - name: the file's name, without `.plist`.
    ///   - bundle: the bundle with the initial file. If the file is missing there and in the folder, there are no
    ///     models.
    ///   - folder: a file URL; the folder need not exist before the first save. nil reads the bundle only; then the
    ///     file must exist.
    /// - Throws: as `init(url:)`.
    public convenience init(resource name: String, in bundle: Bundle = .main, folder: URL? = nil) throws
    where Model: PropertyListModel {
        let (url, initial) = try Self.places(name, bundle, folder)
        try self.init(url: url, initial: initial) { try Model(PropertyListDictionary($0)) }
    }

    /// Loads Decodable models of `NAME.plist` in a folder or, if it is missing there, in a bundle.
    @_disfavoredOverload
    public convenience init(resource name: String, in bundle: Bundle = .main, folder: URL? = nil) throws
    where Model: Decodable {
        let (url, initial) = try Self.places(name, bundle, folder)
        try self.init(url: url, initial: initial) { try StoredValueDecoder.value(Model.self, from: $0) { nil }.value }
    }

    private static func places(_ name: String, _ bundle: Bundle, _ folder: URL?) throws -> (URL?, URL?) {
        let bundled = bundle.url(forResource: name, withExtension: "plist")
        guard folder != nil || bundled != nil else {
            let path = bundle.bundleURL.appending(path: name + ".plist").path(percentEncoded: false)
            throw PrefsError.unreadable(StorageFailure(path: path, reason: "there is no such resource"))
        }
        return (folder?.appending(path: name + ".plist", directoryHint: .notDirectory), bundled)
    }

    /// - Parameters:
    ///   - url: the file; nil for models that are only read.
    ///   - initial: is read if the file is missing.
    private init(url: URL?, initial: URL?, _ decode: (StoredValue) throws -> Model) throws {
        guard let place = url ?? initial else { preconditionFailure("there is neither a file nor a resource") }
        self.url = place
        document = try url.map { try PropertyListDocument(url: $0) }
        let (stored, failure, _) = try document?.read() ?? (nil, nil, nil)
        if let failure { throw failure }
        saved = stored
        let root = try stored ?? initial.map { try PropertyListDocument.contents(ofResource: $0).root }
        hasOneModel = root?.dictionary != nil
        guard let root else { return }
        if hasOneModel {
            models = [try PropertyListFailure.naming("") { try decode(root) }]
        } else if let elements = root.array {
            models = try elements.enumerated().map { index, element in
                try PropertyListFailure.naming("[\(index)]") { try decode(element) }
            }
        } else {
            throw PropertyListFailure("", "expected an array or a dictionary, found \(ValueMismatch.kind(of: root))")
        }
    }

    /// Saves the models to the folder. Equal models are not written again.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/notStored(_:)`` if the file has changed since it was loaded
    ///   or saved; ``PropertyListFailure`` with index and key if a model cannot be stored. Then the file is unchanged.
    public func save() throws {
        guard let document else {
            let path = url.path(percentEncoded: false)
            throw PrefsError.notStored(StorageFailure(path: path, reason: "was read without a folder to save to"))
        }
        if hasOneModel, models.count != 1 {
            throw PropertyListFailure("", "expected one model, because the root is a dictionary, found \(models.count)")
        }
        let elements = try models.enumerated().map { index, model in
            try PropertyListFailure.naming(hasOneModel ? "" : "[\(index)]") {
                guard let model = model as? any Encodable else {
                    throw PropertyListFailure("", "\(Model.self) cannot be saved, because it is not Encodable")
                }
                let value = try StoredValueEncoder.value(of: model)
                try PropertyListVetter.check(value)
                return value
            }
        }
        let root = hasOneModel ? elements[0] : .array(elements)
        try document.write(root, inPlaceOf: saved)
        saved = root
    }
}

extension PropertyListFailure {
    fileprivate init(_ path: String, _ reason: String) {
        self.init(path: path, topLevelKey: String(path.prefix { $0 != "." && $0 != "[" }), reason: reason)
    }

    /// Converts what the coding of a model throws, and names the model.
    ///
    /// - Parameter place: the index in brackets; empty if the root is the model.
    fileprivate static func naming<R>(_ place: String, _ body: () throws -> R) throws -> R {
        func failure(_ path: String, _ reason: String) -> PropertyListFailure {
            let path = path.drop { $0 == "." }
            return Self(
                path.isEmpty || path.hasPrefix("[") || place.isEmpty ? place + path : "\(place).\(path)", reason)
        }
        do {
            return try body()
        } catch let error as PropertyListFailure {
            throw failure(error.path, error.reason)
        } catch let mismatch as ValueMismatch {
            throw failure(mismatch.path, mismatch.reason)
        }
    }
}
