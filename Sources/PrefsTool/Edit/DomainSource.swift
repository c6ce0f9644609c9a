import Foundation
import PersistentPreferences

/// Any domain: an item for each entry, with the entries of dictionaries and arrays inside it.
struct DomainSource: EditableSource {
    let title: String
    let isOpen = true

    private let domain: Roots
    private let file: String?

    init(_ domain: Roots, name: String) {
        self.domain = domain
        file = domain.fileURL?.absoluteURL.path(percentEncoded: false)
        title = file ?? name
    }

    func read() throws -> (items: [EditorItem], values: [String: StoredValue], failure: PrefsError?) {
        let (entries, failure) = try domain.entries()
        if let failure, !failure.returnsKnownState { throw failure }
        let values = entries ?? [:]
        return (Self.sorted(values).map { Self.item($1, at: ValuePath($0, []), name: $0) }, values, failure)
    }

    private static func item(_ value: StoredValue, at path: ValuePath, name: String) -> EditorItem {
        let typeName = ValueText.typeName(value)
        let type = PropertyListType(rawValue: typeName)
        var children: [EditorItem] = []
        if let values = value.dictionary {
            children = sorted(values).map { item($1, at: path.appending(.key($0)), name: $0) }
        } else if let values = value.array {
            children = values.enumerated().map { item($1, at: path.appending(.index($0)), name: "[\($0)]") }
        }
        let isContainer = type?.isContainer ?? false
        return EditorItem(
            path: path, name: name, typeName: type == nil ? "reference" : typeName,
            content: isContainer ? .container(count: children.count) : .set(PropertyListType.text(of: value)),
            type: type,
            choices: type == .boolean ? ["true", "false"] : [], children: children)
    }

    /// Sorted by their bytes, as in JSON.
    private static func sorted(_ values: [String: StoredValue]) -> [(String, StoredValue)] {
        values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
    }

    func observe(_ changed: @escaping @Sendable () -> Void) throws -> (observation: [AnyObject], failure: String?) {
        guard let file else { return ([], "changes by others are not noticed: the domain has no file") }
        do throws(StorageFailure) {
            return ([try SidecarPaths.watch(path: file, changed)], nil)
        } catch {
            return ([], "changes by others are not noticed: \(error)")
        }
    }

    func path(named name: String, in values: [String: StoredValue]) throws -> ValuePath {
        try DomainPlace.newPath(name, in: values)
    }

    func value(of text: String, at path: ValuePath, as type: PropertyListType?) throws -> StoredValue? {
        guard let type else { throw CommandError("a reference of a keyed archive cannot be edited") }
        return try type.value(of: text)
    }

    func update(_ path: ValuePath, _ body: (StoredValue?) throws -> StoredValue?) throws -> PrefsError? {
        try domain.updateEntries { entries in
            let now = path.value(in: entries[path.root])
            let new = try body(now)
            // Removing a missing value would add the dictionaries that lead to it.
            if now == nil, new == nil { return }
            entries[path.root] = try path.value(entries[path.root], with: new)
        }
    }

    func accepts(_ value: StoredValue, at path: ValuePath) -> Bool {
        let before: [String: StoredValue] = path.steps.isEmpty ? [:] : [path.root: .dictionary([:])]
        guard let entry = try? path.value(nil, with: value) else { return false }
        return (try? Roots.changed(before, to: [path.root: entry])) != nil
    }
}
