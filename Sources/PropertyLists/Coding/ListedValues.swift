/// The values of types with few values.
package enum ListedValues {
    private static let most = 256

    /// All values of a type, without nil for an optional; nil if they cannot be listed.
    package static func all(of type: Any.Type) -> [Any]? {
        if let optional = type as? any StorableOptional.Type { return all(of: optional.contentType) }
        if let listed = type as? any CaseIterable.Type { return cases(of: listed) }
        return (type as? any StorableScalar.Type)?.all
    }

    private static func cases<T: CaseIterable>(of type: T.Type) -> [Any]? {
        let cases = Array(T.allCases.prefix(most + 1))
        return cases.count > most ? nil : cases
    }
}
