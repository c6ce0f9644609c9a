import Foundation
import PersistentPreferences

extension Group {
    static let coding = Group(
        name: "coding", title: "Codable values, a tree of about 100 nodes and a list of 200 structs",
        rows: [
            Row("foundation-tree-write", "PropertyListEncoder, then its objects to the same store: tree") { _ in
                foundationWrites(Tree.samples, to: TreePrefs(store: .memory()), "tree")
            },
            Row(
                "tree-write", "assigning the property in memory",
                .faster(than: "foundation-tree-write", atLeast: 3)
            ) { _ in
                let prefs = TreePrefs(store: .memory())
                return .each(verify: prefs.check) { prefs.tree = Tree.samples[$0 % 2] }
            },
            Row("foundation-tree-read", "objects to data, PropertyListDecoder: tree") { _ in
                try foundationReads(Tree.samples[0])
            },
            Row("tree-open", "opening an instance and reading nothing") { _ in
                let store = PrefsStore.memory()
                TreePrefs(store: store).tree = Tree.samples[0]
                return try .reads { TreePrefs(store: store).visibleCount() }
            },
            Row(
                "tree-read", "the same, and the first read of its tree",
                .faster(than: "foundation-tree-read", atLeast: 3),
                .times("tree-open")
            ) { _ in
                let store = PrefsStore.memory()
                TreePrefs(store: store).tree = Tree.samples[0]
                return try .reads { TreePrefs(store: store).tree.sections.count }
            },
            Row("foundation-list-write", "PropertyListEncoder, then its objects to the same store: list") { _ in
                foundationWrites(Item.samples, to: ListPrefs(store: .memory()), "items")
            },
            Row(
                "list-write", "assigning the property in memory",
                .faster(than: "foundation-list-write", atLeast: 3)
            ) { _ in
                let prefs = ListPrefs(store: .memory())
                return .each(verify: prefs.check) { prefs.items = Item.samples[$0 % 2] }
            },
            Row("foundation-list-read", "objects to data, PropertyListDecoder: list") { _ in
                try foundationReads(Item.samples[0])
            },
            Row(
                "list-read", "opening an instance, first read of its list",
                .faster(than: "foundation-list-read", atLeast: 3)
            ) { _ in
                let store = PrefsStore.memory()
                ListPrefs(store: store).items = Item.samples[0]
                return try .reads { ListPrefs(store: store).items.count }
            },
        ])

    /// Encodes to bytes and decodes them to an object. Without a library, a program that stores a Codable value in a
    /// root must do so.
    private static func foundationWrites<Value: Encodable>(
        _ samples: [Value], to prefs: PersistentPrefs, _ key: String
    ) -> Operation {
        .each(verify: prefs.check) { number in
            let data = try PropertyListEncoder().encode(samples[number % 2])
            prefs[key] = try PropertyListSerialization.propertyList(from: data, format: nil)
        }
    }

    private static func foundationReads<Value: Codable>(_ sample: Value) throws -> Operation {
        let data = try PropertyListEncoder().encode(sample)
        let object = try PropertyListSerialization.propertyList(from: data, format: nil)
        return .each { _ in
            let data = try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
            _ = try PropertyListDecoder().decode(Value.self, from: data)
        }
    }
}
