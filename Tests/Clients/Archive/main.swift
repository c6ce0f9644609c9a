// A program that is linked against a static archive, as with CMake. The linker leaves out each object file that nothing
// names, with the conformances in it. The program stops if one is missing.

import Foundation
import PersistentPreferences
import PrefsStoreKit

#if JSON
    import PrefsJSON
    import PrefsLayers
#endif

struct Item: Codable {
    var price = Decimal(2)
    var wait = Duration.seconds(3)
}

final class ArchivePrefs: Prefs, @unchecked Sendable {
    @Pref(.in(8...72)) var size = 12
    @Pref var price = Decimal(1)
    @Pref var wait = Duration.zero
    @Pref var item = Item()
    @Pref var tags: Set<String> = []
}

let store = PrefsStore.memory()
let prefs = ArchivePrefs(store: store)
prefs.price = 19
prefs.wait = .seconds(90)
prefs.item = Item()
prefs.tags = ["b", "a"]
let stored = try store.read(root: "ArchivePrefs") ?? [:]
let item = stored["item"] as? [String: Any] ?? [:]
let forms = [stored["price"], stored["wait"], item["price"], item["wait"]].map { $0 as? String ?? "another form" }
precondition(forms == ["19", "PT1M30S", "2", "PT3S"], "\(forms)")
precondition(stored["tags"] as? [String] == ["a", "b"] && prefs.lastError == nil)

#if JSON
    let schema = String(decoding: prefs.jsonSchema(), as: UTF8.self)
    for part in ["\"minimum\": 8", "\"maximum\": 72", "\"default\": \"1\"", "\"items\""] {
        precondition(schema.contains(part), schema)
    }
    let layers = [PrefsLayer.environment(prefix: "ARCHIVE_", in: ["ARCHIVE_PRICE": "0.25", "ARCHIVE_SIZE": "20"])]
    let layered = ArchivePrefs(store: .layered(.memory(), above: layers))
    precondition(layered.price == Decimal(string: "0.25") && layered.size == 20 && layered.lastError == nil)
#endif
print("every conformance is there")
