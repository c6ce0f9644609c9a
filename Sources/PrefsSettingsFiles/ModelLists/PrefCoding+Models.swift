import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// The codings of the models of a controller. Errors of a property list are ``PropertyListFailure``, with a path inside
/// the model.
extension PrefCoding where Value: PropertyListModel {
    static var ofModel: PrefCoding {
        PrefCoding(
            encode: { model in
                var dictionary = PropertyListDictionary()
                try model.encode(to: &dictionary)
                return .dictionary(dictionary.values)
            },
            decode: { stored, _ in
                guard case .dictionary(let values) = stored else {
                    throw PropertyListFailure(
                        inside: "", "expected a dictionary, found \(ValueMismatch.kind(of: stored))")
                }
                return try Value(PropertyListDictionary(values: values))
            })
    }
}

extension PrefCoding where Value: Decodable {
    static var ofCodable: PrefCoding {
        PrefCoding(
            encode: { model in
                guard let model = model as? any Encodable else {
                    throw PropertyListFailure(inside: "", "\(Value.self) cannot be saved, because it is not Encodable")
                }
                do {
                    let value = try StoredValueEncoder.value(of: model)
                    try PropertyListVetter.check(value, forKey: "")
                    return value
                } catch let mismatch as ValueMismatch {
                    throw PropertyListFailure(mismatch)
                } catch let refusal as PropertyListVetter.Refusal {
                    throw refusal.failures.first.map { PropertyListFailure(inside: $0.path, $0.reason) } ?? refusal
                }
            },
            decode: { stored, form in
                do {
                    return try StoredValueDecoder.value(Value.self, from: stored, form, fallback: { nil }).value
                } catch let mismatch as ValueMismatch {
                    throw PropertyListFailure(mismatch)
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
