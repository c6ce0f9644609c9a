package import Foundation

/// The property list or JSON in a file, read by Foundation alone; empty if its top level is not a dictionary.
package func propertyList(at url: URL) throws -> [String: Any] {
    let bytes = try Data(contentsOf: url)
    let list =
        bytes.first == UInt8(ascii: "{")
        ? try JSONSerialization.jsonObject(with: bytes)
        : try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
    return list as? [String: Any] ?? [:]
}

/// Writes a property list, by Foundation alone.
package func writePropertyList(
    _ list: Any, to url: URL, as format: PropertyListSerialization.PropertyListFormat = .binary
) throws {
    try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0).write(to: url)
}
