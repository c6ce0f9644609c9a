import Foundation
import PersistentPreferences

/// A change to print.
struct WatchedChange {
    /// The key as text.
    let key: String
    /// The keys and indexes from the top; nil in a class.
    var path: [StoredValue]?
    let old: StoredValue?
    let new: StoredValue?
    let origin: PrefsChange.Origin
}

/// What a watch observes: the preferences of a class, or any domain.
protocol WatchSource: Sendable {
    /// The path of the file, or the name of the store.
    var place: String { get }
    /// Begins to call both closures on the queue, until what is returned is released. `look` means that the file may have changed.
    func observe(
        on queue: DispatchQueue, report: @escaping @Sendable ([WatchedChange]) -> Void,
        look: @escaping @Sendable () -> Void
    ) throws -> [AnyObject]
    /// The changes since the last call that are not reported otherwise, and why the file cannot be read. Called on the queue.
    func look() -> (changes: [WatchedChange], failure: PrefsError?)
}

/// The preferences of a class.
struct ClassWatchSource: WatchSource {
    let prefs: PersistentPrefs
    /// Empty for all keys.
    let keys: [String]
    let secrets: Secrets
    let file: String?
    let storeName: String

    var place: String { file ?? storeName }

    func observe(
        on queue: DispatchQueue, report: @escaping @Sendable ([WatchedChange]) -> Void,
        look: @escaping @Sendable () -> Void
    ) throws -> [AnyObject] {
        let observation = prefs.onChange(of: keys, on: queue) { change in
            let (old, new) = (change.difference.old, change.difference.new)
            report(
                change.keys.map { key in
                    let (old, new) = (old[key], new[key])
                    return WatchedChange(
                        key: key, old: old.map { secrets.shown($0, at: [key]) },
                        new: new.map { secrets.shown($0, at: [key]) }, origin: change.origin)
                })
        }
        if let error = prefs.lastError { throw error }
        // A file that becomes malformed is not reported as a change. `onChange` reports a file that cannot be watched.
        let watch = file.flatMap { file in try? SidecarPaths.watch(path: file) { queue.async(execute: look) } }
        return [observation] + (watch.map { [$0] } ?? [])
    }

    func look() -> (changes: [WatchedChange], failure: PrefsError?) {
        _ = prefs.storedValues
        return ([], prefs.lastError)
    }
}

/// Any domain that is in a file. Finds the changed places by comparing what the file contains.
final class DomainWatchSource: WatchSource {
    private let domain: Roots
    private let file: String
    /// Empty for all places.
    private let names: [String]
    private let known = Locked<[String: StoredValue]?>(nil)

    var place: String { file }

    /// - Throws: `CommandError` if the domain has no file.
    init(_ domain: Roots, name: String, _ names: [String]) throws {
        guard let url = domain.fileURL else { throw CommandError("\(name) cannot be watched, because it has no file") }
        self.domain = domain
        self.names = names
        file = url.absoluteURL.path(percentEncoded: false)
    }

    func observe(
        on queue: DispatchQueue, report: @escaping @Sendable ([WatchedChange]) -> Void,
        look: @escaping @Sendable () -> Void
    ) throws -> [AnyObject] {
        [try SidecarPaths.watch(path: file) { queue.async(execute: look) }]
    }

    func look() -> (changes: [WatchedChange], failure: PrefsError?) {
        let (entries, failure): ([String: StoredValue]?, PrefsError?)
        do {
            (entries, failure) = try domain.entries()
        } catch {
            // Entries of a file that becomes readable later are changes.
            known.withLock { $0 = $0 ?? [:] }
            return ([], error as? PrefsError ?? .unknownError(error: error))
        }
        if let failure, !failure.returnsKnownState {
            known.withLock { $0 = $0 ?? [:] }
            return ([], failure)
        }
        let now = entries ?? [:]
        let before = known.withLock { known in
            defer { known = now }
            return known ?? now
        }
        return (changes(from: before, to: now), failure)
    }

    private func changes(from old: [String: StoredValue], to new: [String: StoredValue]) -> [WatchedChange] {
        let keys = Set(old.keys).union(new.keys)
        let roots = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { ValuePath($0, []) }
        let places = names.isEmpty ? roots : names.map { ValuePath($0, isKey: keys.contains) }
        var found: Set<ValuePath> = []
        return places.flatMap { place in
            Self.changes(at: place, from: place.value(in: old[place.root]), to: place.value(in: new[place.root]))
        }
        // Places may overlap.
        .filter { found.insert($0.path).inserted }.map(\.change)
    }

    /// The innermost places that differ. The elements of an array are compared if their number is the same.
    private static func changes(
        at path: ValuePath, from old: StoredValue?, to new: StoredValue?
    ) -> [(path: ValuePath, change: WatchedChange)] {
        if old == new { return [] }
        if let old = old?.dictionary, let new = new?.dictionary {
            return Set(old.keys).union(new.keys).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.flatMap {
                changes(at: path.appending(.key($0)), from: old[$0], to: new[$0])
            }
        }
        if let old = old?.array, let new = new?.array, old.count == new.count {
            return old.indices.flatMap { changes(at: path.appending(.index($0)), from: old[$0], to: new[$0]) }
        }
        return [(path, WatchedChange(key: path.text, path: path.names, old: old, new: new, origin: .elsewhere))]
    }
}

extension ValuePath {
    /// The keys and indexes from the top.
    fileprivate var names: [StoredValue] {
        [.string(root)]
            + steps.map { step in
                switch step {
                case .key(let key): .string(key)
                case .index(let index): StoredValue(index)
                }
            }
    }
}
