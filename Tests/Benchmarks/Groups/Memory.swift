import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsStoreKit

extension Group {
    private static let files = 20
    private static let opens = 10_000

    static let memory = Group(
        name: "memory", title: "heap and descriptors",
        figures: [
            FigureRow("cached-root", "a loaded store against the values in it, 1,000-key root") { place in
                let urls = try (0..<files).map { try place.file("cached-root-\($0)") }
                for url in urls { _ = try ThousandPrefs.full(in: PrefsStore.propertyList(url: url)) }
                func parsed(_ url: URL) throws -> Any {
                    try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
                }
                func loaded(_ url: URL) throws -> (store: PrefsStore, values: [String: Any]) {
                    let store = PrefsStore.propertyList(url: url)
                    guard let values = try store.read(root: ThousandPrefs.root) else {
                        throw Unavailable("the root is not read back")
                    }
                    return (store, values)
                }
                func growth(_ make: (URL) throws -> Any) throws -> Double {
                    // The first store also makes the objects that all stores share.
                    let first = try make(urls[0])
                    defer { withExtendedLifetime(first) {} }
                    return try Heap.growth { try urls.dropFirst().map(make) } / Double(files - 1)
                }
                let byFoundation = try growth(parsed)
                // The store is released, and its values are kept.
                let values = try growth { try loaded($0).values }
                let cached = try growth { try loaded($0).store }
                return [
                    Figure(title: "a 1,000-key root by PropertyListSerialization", value: byFoundation, unit: "bytes"),
                    Figure(title: "the values that a store gives of it", value: values, unit: "bytes"),
                    Figure(title: "a store that has loaded it", value: cached, unit: "bytes"),
                    Figure(title: "store by values", value: cached / values, unit: "×", goal: "≤ 3"),
                ]
            },
            FigureRow("cached-json", "a loaded store against the text in it, 1,000-key root in JSON") { place in
                let urls = try (0..<files).map { try place.file("cached-json-\($0).json") }
                for url in urls { _ = try ThousandPrefs.full(in: PrefsStore.json(url: url)) }
                let text = try Data(contentsOf: urls[0]).count
                let heap = try Heap.growth {
                    try urls.map { url in
                        let store = PrefsStore.json(url: url)
                        return (store, try store.read(root: ThousandPrefs.root) == nil)
                    }
                }
                let cached = heap / Double(files)
                return [
                    Figure(title: "the text of a 1,000-key root", value: Double(text), unit: "bytes"),
                    Figure(title: "a store that has loaded it", value: cached, unit: "bytes"),
                    Figure(title: "store by text", value: cached / Double(text), unit: "×", goal: "≤ 6"),
                ]
            },
            FigureRow("open-and-close", "10,000 instances and 10,000 stores, opened and closed") { place in
                let store = try place.store("open-and-close")
                let prefs = try FivePrefs.full(in: store)
                let instances = try growth("an instance") { _ = FivePrefs(store: store).x }
                withExtendedLifetime(prefs) {}
                let url = try place.file("open-and-close-store")
                _ = try FivePrefs.full(in: PrefsStore.propertyList(url: url))
                let stores = try growth("a store and an instance") {
                    _ = FivePrefs(store: .propertyList(url: url)).x
                }
                return instances + stores
            },
        ])

    private static func growth(_ subject: String, _ body: () -> Void) throws -> [Figure] {
        for _ in 0..<opens / 10 { body() }
        let descriptors = openDescriptors
        let heap = try Heap.growth { (0..<opens).forEach { _ in body() } }
        return [
            Figure(title: "heap after \(opens) × \(subject)", value: heap, unit: "bytes more", goal: "about 0"),
            Figure(
                title: "descriptors after \(opens) × \(subject)", value: Double(openDescriptors - descriptors),
                unit: "more", goal: "0"),
        ]
    }

    /// The number of open descriptors of this process, among the first few thousand.
    private static var openDescriptors: Int { (0..<Int32(4_096)).count { fcntl($0, F_GETFD) != -1 } }
}
