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
    /// - Throws: ``PrefsError``: the file cannot be read or is malformed, or it is ``PrefsError/typeMismatch(_:)`` with
    ///   index and key of a model that cannot be created; or what a model throws. The file is not changed.
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
            models = [try Self.naming("", in: PrefsError.mismatch) { try decode(root) }]
        } else if let elements = root.array {
            models = try elements.enumerated().map { index, element in
                try Self.naming("[\(index)]", in: PrefsError.mismatch) { try decode(element) }
            }
        } else {
            let reason = "expected an array or a dictionary, found \(ValueMismatch.kind(of: root))"
            throw PrefsError.mismatch(of: [PropertyListFailure(path: "", topLevelKey: "", reason: reason)])
        }
    }

    /// Saves the models to the folder. Equal models are not written again.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/notStored(_:)`` if the file has changed since it was loaded
    ///   or saved; ``PrefsError/valuesNotPlistCompatible(invalidElements:)`` with index and key if a model cannot be
    ///   stored. Then the file is unchanged.
    public func save() throws {
        guard let document else {
            let path = url.path(percentEncoded: false)
            throw PrefsError.notStored(StorageFailure(path: path, reason: "was read without a folder to save to"))
        }
        if hasOneModel, models.count != 1 {
            let reason = "expected one model, because the root is a dictionary, found \(models.count)"
            throw PrefsError.unsupportedValues([PropertyListFailure(path: "", topLevelKey: "", reason: reason)])
        }
        let elements = try models.enumerated().map { index, model in
            try Self.naming(hasOneModel ? "" : "[\(index)]", in: PrefsError.unsupportedValues) {
                guard let model = model as? any Encodable else {
                    let reason = "\(Model.self) cannot be saved, because it is not Encodable"
                    throw PropertyListFailure(path: "", topLevelKey: "", reason: reason)
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

    /// Converts what the coding of a model throws, and names the model.
    ///
    /// - Parameters:
    ///   - place: the index in brackets; empty if the root is the model.
    ///   - error: the error that has the failures.
    private static func naming<R>(
        _ place: String, in error: ([PropertyListFailure]) -> PrefsError, _ body: () throws -> R
    ) throws -> R {
        func named(_ path: String, _ reason: String) -> PropertyListFailure {
            let inside = path.drop { $0 == "." }
            let path =
                inside.isEmpty || inside.hasPrefix("[") || place.isEmpty ? place + inside : "\(place).\(inside)"
            let key = place.isEmpty ? String(path.prefix { $0 != "." && $0 != "[" }) : place
            return PropertyListFailure(path: path, topLevelKey: key, reason: reason)
        }
        do {
            return try body()
        } catch PrefsError.typeMismatch(let problems) {
            throw error(problems.map { named($0.path, $0.reason) })
        } catch let failure as PropertyListFailure {
            throw error([named(failure.path, failure.reason)])
        } catch let mismatch as ValueMismatch {
            throw error([named(mismatch.path, mismatch.reason)])
        }
    }
}
