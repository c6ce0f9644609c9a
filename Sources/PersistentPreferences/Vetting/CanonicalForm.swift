import Foundation

/// A value that is in canonical form already, by its kind.
///
/// By the very type: a cast to a container would try to bridge every number on its way, at the price of a hundred
/// comparisons.
enum CanonicalForm {
    case text(String)
    case bool(Bool)
    case number(NSNumber)
    case date(Date)
    case data(Data)
    case list([Any])
    case dictionary([String: Any])
    /// An object of another program (the UID of a keyed archive) that is carried as it is.
    case foreign

    init(_ value: Any) {
        let kind = type(of: value)
        if kind == String.self, let text = value as? String {
            self = .text(text)
        } else if kind is AnyClass {
            guard kind != NSDecimalNumber.self, let number = value as? NSNumber else {
                self = .foreign
                return
            }
            self = .number(number)
        } else if kind == Bool.self, let bool = value as? Bool {
            self = .bool(bool)
        } else if kind == [Any].self, let list = value as? [Any] {
            self = .list(list)
        } else if kind == [String: Any].self, let dictionary = value as? [String: Any] {
            self = .dictionary(dictionary)
        } else if kind == Date.self, let date = value as? Date {
            self = .date(date)
        } else if kind == Data.self, let data = value as? Data {
            self = .data(data)
        } else {
            self = .foreign
        }
    }
}
