import Foundation
import IndexStore

/// A symbol that a source file uses, and where.
struct Use: Hashable {
    let usr: String
    /// The requirement of a protocol that the symbol meets, if it is used as a default implementation.
    let requirement: String?
    let file: String
    let line: Int
}

/// What an index store says about the files of a folder. The compiler writes the store during a debug build.
struct Index {
    private(set) var files: Set<String> = []
    private(set) var uses: Set<Use> = []
    /// By its symbol, the file and the name of each definition.
    private(set) var definitions: [String: (file: String, name: String)] = [:]

    private let folder: String

    /// - Parameter folder: an absolute path. Files outside of it, and in its folder `.build`, do not count.
    init(of folder: String) {
        self.folder = folder
    }

    /// Returns false if there is no index store at that path.
    mutating func add(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path), let store = indexstore_store_create(path, nil) else {
            return false
        }
        for name in names({ indexstore_store_units_apply_f(store, 0, $0, $1) }) { readUnit(name, of: store) }
        return true
    }

    private mutating func readUnit(_ name: String, of store: UnsafeMutableRawPointer) {
        guard let unit = indexstore_unit_reader_create(store, name, nil) else { return }
        defer { indexstore_unit_reader_dispose(unit) }
        let file = String(indexstore_unit_reader_get_main_file(unit))
        guard file.hasPrefix(folder + "/"), !file.hasPrefix(folder + "/.build/"),
            FileManager.default.fileExists(atPath: file)
        else { return }
        let path = String(file.dropFirst(folder.count + 1))
        files.insert(path)
        var records: [String] = []
        each({ indexstore_unit_reader_dependencies_apply_f(unit, $0, $1) }) {
            // INDEXSTORE_UNIT_DEPENDENCY_RECORD; the others are units and files.
            if indexstore_unit_dependency_get_kind($0) == 2 {
                records.append(String(indexstore_unit_dependency_get_name($0)))
            }
        }
        for name in records {
            guard let record = indexstore_record_reader_create(store, name, nil) else { continue }
            defer { indexstore_record_reader_dispose(record) }
            each({ indexstore_record_reader_occurrences_apply_f(record, $0, $1) }) { add($0, in: path) }
        }
    }

    private mutating func add(_ occurrence: UnsafeMutableRawPointer, in file: String) {
        guard let symbol = indexstore_occurrence_get_symbol(occurrence) else { return }
        let usr = String(indexstore_symbol_get_usr(symbol))
        let roles = indexstore_occurrence_get_roles(occurrence)
        let name = String(indexstore_symbol_get_name(symbol))
        guard roles & (Role.declaration | Role.definition) == 0 else {
            definitions[usr] = (file, name)
            return
        }
        // The property of an accessor occurs beside it.
        guard !name.hasPrefix("getter:"), !name.hasPrefix("setter:") else { return }
        // A conformance that takes a default implementation names it without referring to it.
        var requirement: String?
        if roles & Role.reference == 0 {
            each({ indexstore_occurrence_relations_apply_f(occurrence, $0, $1) }) { relation in
                guard indexstore_symbol_relation_get_roles(relation) & Role.overrideOf != 0,
                    let symbol = indexstore_symbol_relation_get_symbol(relation)
                else { return }
                requirement = String(indexstore_symbol_get_usr(symbol))
            }
        }
        var (line, column): (UInt32, UInt32) = (0, 0)
        indexstore_occurrence_get_line_col(occurrence, &line, &column)
        uses.insert(Use(usr: usr, requirement: requirement, file: file, line: Int(line)))
    }

    /// The bits of `indexstore_symbol_role_t`.
    private enum Role {
        static let declaration: UInt64 = 1
        static let definition: UInt64 = 1 << 1
        static let reference: UInt64 = 1 << 2
        static let overrideOf: UInt64 = 1 << 11
    }
}

extension String {
    fileprivate init(_ text: indexstore_string_ref_t) {
        self.init(decoding: UnsafeRawBufferPointer(start: text.data, count: text.length), as: UTF8.self)
    }
}

/// Collects the names that a function of the library gives to its callback.
private func names(_ apply: (UnsafeMutableRawPointer, @escaping indexstore_each_name) -> Bool) -> [String] {
    var names: [String] = []
    withUnsafeMutablePointer(to: &names) { names in
        _ = apply(names) { context, name in
            context?.assumingMemoryBound(to: [String].self).pointee.append(String(name))
            return true
        }
    }
    return names
}

private typealias Step = (UnsafeMutableRawPointer) -> Void

/// Calls the closure with each item that a function of the library gives to its callback.
private func each(_ apply: (UnsafeMutableRawPointer, @escaping indexstore_each_item) -> Bool, _ step: Step) {
    withoutActuallyEscaping(step) { step in
        var step = step
        withUnsafeMutablePointer(to: &step) { step in
            _ = apply(step) { context, item in
                if let item { context?.assumingMemoryBound(to: Step.self).pointee(item) }
                return true
            }
        }
    }
}
