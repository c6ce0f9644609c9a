public import Foundation
import PrefsPropertyLists

/// Reads and writes the models of a property list whose root is an array of dictionaries: from a bundled resource at
/// first, from a folder of the caller's choice once it has been saved there.
///
/// ```swift
/// let quotes = try PropertyListController<Quote>(resource: "Quotes", folder: folder)
/// quotes.models.append(Quote(author: "Seneca", text: "…"))
/// try quotes.save()
/// ```
///
/// It holds the models; views and commands get them from it. A save drops the keys of a dictionary that the model does not know.
/// Loading costs a read of the file. A save replaces the file, with two flushes; it is atomic and durable, and rejected if the file
/// has changed since. Belongs to one thread or actor at a time.
/// Follows `DataController` (seed 002).
public final class PropertyListController<Model: PropertyListModel> {
    /// The models, in the order of the file.
    public var models: [Model]
    /// Where they are saved.
    public let url: URL
    private let document: PropertyListDocument
    /// The root in the file; nil if there is no file.
    private var saved: Any?

    /// The models of `NAME.plist` in a folder, or, where it is not there yet, of a bundle.
    ///
    /// - Parameters:
    ///   - name: the file's name, without `.plist`.
    ///   - bundle: contains the file that comes with the program. If neither place has a file, there are no models.
    ///   - folder: a file URL; the folder need not exist before the first save.
    /// - Throws: ``PrefsError`` if a file is there and cannot be read or is malformed, ``PropertyListFailure`` for a model that
    ///   cannot be built, by its index and key. The file stays as it is.
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

    /// Writes the models to the folder, unless the file already has them.
    ///
    /// - Throws: ``PrefsError``, for example ``PrefsError/notStored(_:)`` if the file has changed since the last load or save, and any
    ///   error of a model; then the file is unchanged.
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
