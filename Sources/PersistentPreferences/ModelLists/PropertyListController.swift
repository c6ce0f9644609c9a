public import Foundation
import PrefsPropertyLists

/// Loads and saves the models of a property list whose top level is an array of dictionaries.
///
/// ```swift
/// let quotes = try PropertyListController<Quote>(resource: "Quotes", folder: folder)
/// quotes.models.append(Quote(author: "Seneca", text: "…"))
/// try quotes.save()
/// ```
///
/// Follows `DataController`.
///
/// ## Behavior
/// It loads the file in the folder or, if that is missing, the one in the bundle. It saves to the folder. A save drops the keys
/// that the model does not encode.
///
/// ## Performance
/// Loading reads the file. A save replaces it and flushes it and its folder; equal models are not written again.
///
/// ## Errors
/// A save fails with ``PrefsError/notStored(_:)`` if the file has changed since it was loaded or saved.
///
/// ## Threads
/// One thread or actor at a time.
public final class PropertyListController<Model: PropertyListModel> {
    /// The models, in the order of the file.
    public var models: [Model]
    /// The file that they are saved to.
    public let url: URL
    private let document: PropertyListDocument
    /// The root in the file; nil if there is no file.
    private var saved: Any?

    /// Loads the models of `NAME.plist` in a folder or, if it is missing there, in a bundle.
    ///
    /// - Parameters:
    ///   - name: the file's name, without `.plist`.
    ///   - bundle: the bundle with the initial file. If the file is missing in both places, there are no models.
    ///   - folder: a file URL; the folder need not exist before the first save.
    /// - Throws: ``PrefsError`` if the file cannot be read or is malformed; ``PropertyListFailure`` with index and key if a model cannot
    ///   be created. The file is not changed.
    public init(resource name: String, in bundle: Bundle = .main, folder: URL) throws {
        url = folder.appending(path: name + ".plist", directoryHint: .notDirectory)
        document = try PropertyListDocument(url: url)
        let (root, failure) = try document.read()
        if let failure { throw failure }
        saved = root
        if let root {
            models = try Self.models(of: root)
        } else if let bundled = bundle.url(forResource: name, withExtension: "plist") {
            models = try Self.models(of: PropertyListDocument.contents(ofResource: bundled).root)
        } else {
            models = []
        }
    }

    /// Saves the models to the folder. Equal models are not written again.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/notStored(_:)`` if the file has changed since it was loaded or saved; and what
    ///   a model throws. Then the file is unchanged.
    public func save() throws {
        var root: [Any] = []
        for (index, model) in models.enumerated() {
            var dictionary = PropertyListDictionary()
            do {
                try model.encode(to: &dictionary)
            } catch let failure as PropertyListFailure {
                throw failure.inside(index)
            }
            root.append(dictionary.contents)
        }
        try document.write(root, inPlaceOf: saved)
        saved = root
    }

    private static func models(of root: Any) throws -> [Model] {
        guard let elements = root as? [Any] else {
            throw PropertyListFailure(
                path: "", topLevelKey: "", reason: "expected an array, found \(ValueMismatch.kind(of: root))")
        }
        return try elements.enumerated().map { index, element in
            guard let contents = element as? [String: Any] else {
                let reason = "expected a dictionary, found \(ValueMismatch.kind(of: element))"
                throw PropertyListFailure(path: "[\(index)]", topLevelKey: "", reason: reason)
            }
            do {
                return try Model(PropertyListDictionary(canonical: contents))
            } catch let failure as PropertyListFailure {
                throw failure.inside(index)
            }
        }
    }
}

extension PropertyListFailure {
    fileprivate func inside(_ index: Int) -> PropertyListFailure {
        PropertyListFailure(path: "[\(index)].\(path)", topLevelKey: topLevelKey, reason: reason)
    }
}
