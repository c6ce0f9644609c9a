import Foundation
import PrefsPropertyLists

/// How the models of a controller are created from property-list objects, and encoded as such. Errors of a property list are
/// ``PropertyListFailure``, with a path inside the model.
struct ModelCoding<Model> {
    let decode: (Any) throws -> Model
    /// The object is in canonical form.
    let encode: (Model) throws -> Any
}

extension ModelCoding where Model: PropertyListModel {
    static var ofModel: ModelCoding {
        ModelCoding(
            decode: { object in
                guard let contents = object as? [String: Any] else {
                    throw PropertyListFailure(
                        inside: "", "expected a dictionary, found \(ValueMismatch.kind(of: object))")
                }
                return try Model(PropertyListDictionary(canonical: contents))
            },
            encode: { model in
                var dictionary = PropertyListDictionary()
                try model.encode(to: &dictionary)
                return dictionary.contents
            })
    }
}

extension ModelCoding where Model: Decodable {
    static var ofCodable: ModelCoding {
        ModelCoding(
            decode: { object in
                do {
                    return try PropertyListObjectDecoder.value(Model.self, from: object, fallback: { nil }).value
                } catch let mismatch as ValueMismatch {
                    throw PropertyListFailure(mismatch)
                }
            },
            encode: { model in
                guard let model = model as? any Encodable else {
                    throw PropertyListFailure(inside: "", "\(Model.self) cannot be saved, because it is not Encodable")
                }
                do {
                    let object = try PropertyListObjectEncoder.object(from: model)
                    return try PropertyListVetter.canonical(object, forKey: "").get()
                } catch let mismatch as ValueMismatch {
                    throw PropertyListFailure(mismatch)
                } catch let refusal as PropertyListVetter.Refusal {
                    throw refusal.failures.first.map { PropertyListFailure(inside: $0.path, $0.reason) } ?? refusal
                }
            })
    }
}

extension PropertyListFailure {
    fileprivate init(_ mismatch: ValueMismatch) {
        self.init(inside: mismatch.path, mismatch.reason)
    }

    /// - Parameter path: in a model; it may begin with a dot.
    fileprivate init(inside path: String, _ reason: String) {
        let path = String(path.drop { $0 == "." })
        self.init(path: path, topLevelKey: String(path.prefix { $0 != "." && $0 != "[" }), reason: reason)
    }
}
