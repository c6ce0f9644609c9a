package import Foundation

/// The property list or JSON in a file, read by Foundation alone; empty if its top level is not a dictionary.
package func propertyList(at url: URL) throws -> [String: Any] {
    try propertyList(from: Data(contentsOf: url))
}

package func propertyList(from bytes: Data) throws -> [String: Any] {
    let list =
        bytes.first == UInt8(ascii: "{")
        ? withData(try JSONSerialization.jsonObject(with: bytes))
        : try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
    return list as? [String: Any] ?? [:]
}

/// The value with data in place of the objects that stand for data in JSON.
private func withData(_ value: Any) -> Any {
    switch value {
    case let object as [String: Any]:
        if object.count == 1, let text = object["$data"] as? String, let data = Data(base64Encoded: text) {
            return data
        }
        return object.mapValues(withData)
    case let elements as [Any]: return elements.map(withData)
    default: return value
    }
}

/// Writes a property list, by Foundation alone.
package func writePropertyList(
    _ list: Any, to url: URL, as format: PropertyListSerialization.PropertyListFormat = .binary
) throws {
    try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0).write(to: url)
}
