import Foundation

/// The messages for values that no property list can hold, with a remedy if one is known.
package enum UnsupportedValue {
    static let decimal = "a Decimal would lose digits in a property list; store its description"

    package static let uid = "a reference of a keyed archive cannot be stored"

    static func reason(for value: Any) -> String {
        let kind = type(of: value)
        let name = "\(kind)"
        switch value {
        case is Decimal:
            return decimal
        case is CGFloat:
            return cannot("a CGFloat", "convert it to Double")
        case is Character, is Substring:
            return cannot("a \(name)", "convert it to String")
        case is URL, is NSURL:
            return cannot("a URL", "store its absoluteString")
        case is UUID, is NSUUID:
            return cannot("a UUID", "store its uuidString")
        case is NSNull:
            return cannot("NSNull", "remove the key")
        default:
            break
        }
        if name.hasPrefix("Set<") || name.hasPrefix("ArraySlice<") || name.hasPrefix("ContiguousArray<")
            || value is NSSet
        {
            return cannot("\(article(name)) \(name)", "convert it to Array")
        }
        if name.contains("->") { return cannot("a closure") }
        // Makes no mirror of a Foundation container, because that would read the contents, regardless of the reported
        // count.
        if kind is AnyClass { return cannot("\(article(name)) \(name)") }
        switch Mirror(reflecting: value).displayStyle {
        case .tuple: return cannot("a tuple")
        case .enum: return cannot("the enum \(name)")
        default: return cannot("\(article(name)) \(name)")
        }
    }

    private static func cannot(_ subject: String, _ remedy: String? = nil) -> String {
        "\(subject) cannot be stored in a property list" + (remedy.map { "; \($0)" } ?? "")
    }

    private static func article(_ noun: String) -> String {
        noun.first.map { "AEIOUaeiou".contains($0) } == true ? "an" : "a"
    }
}
