import Foundation
import PrefsPropertyLists

/// The classes that use each root in this process. Finds two classes that would read each other's values by mistake.
enum SharedRoots {
    private struct Use {
        weak var place: AnyObject?
        let file: URL?
        let type: any DeclaringClass.Type
        let declarations: ClassDeclarations

        func isInPlace(of other: Use) -> Bool {
            place === other.place || file != nil && file == other.file
        }
    }

    private static let uses = Locked([String: [Use]]())

    /// Registers the root of the first instance of a class, and the root of its first instance without an own key.
    ///
    /// - Returns: `PrefsError.problem` if another class uses the root, and has the same name or contradicting
    ///   declarations.
    static func register(
        _ type: any DeclaringClass.Type, _ declarations: ClassDeclarations, root: String, in roots: Roots
    ) -> PrefsError? {
        let use = Use(place: roots.place, file: roots.fileURL, type: type, declarations: declarations)
        let key = name(of: root, in: roots)
        let former = declarations.formerRoots(of: key)
        let others = uses.withLock { uses in
            let others = uses
            uses[key] = uses[key, default: []].filter { $0.place != nil || $0.file != nil } + [use]
            for key in former { uses[key, default: []].append(use) }
            return others
        }
        return conflict(of: use, root: key, former: former, in: others)
    }

    /// `PrefsError.problem` as long as the root of an instance is shared by mistake.
    static func conflict(
        of type: any DeclaringClass.Type, _ declarations: ClassDeclarations, root: String, in roots: Roots
    ) -> PrefsError? {
        let use = Use(place: roots.place, file: roots.fileURL, type: type, declarations: declarations)
        let key = name(of: root, in: roots)
        let others = uses.withLock(\.self)
        return conflict(of: use, root: key, former: declarations.formerRoots(of: key), in: others)
    }

    /// In a flat layout, every class has the one root, whose key is empty.
    private static func name(of root: String, in roots: Roots) -> String { roots.layout == .flat ? "" : root }

    private static func conflict(
        of use: Use, root: String, former: [String], in uses: [String: [Use]]
    ) -> PrefsError? {
        for key in former {
            for other in uses[key] ?? [] where other.type != use.type && other.isInPlace(of: use) {
                return error(root: key, names(of: other.type, use.type), contradictions: [])
            }
        }
        var isFirst = false
        for other in uses[root] ?? [] where other.isInPlace(of: use) {
            guard other.type != use.type else {
                isFirst = true
                continue
            }
            let keys = use.declarations.contradictions(with: other.declarations, inDefaults: root.isEmpty)
            let haveOneName =
                !root.isEmpty && String(describing: use.type) == String(describing: other.type)
            guard !keys.isEmpty || haveOneName else { continue }
            let names = isFirst ? names(of: use.type, other.type) : names(of: other.type, use.type)
            return error(root: root, names, contradictions: keys)
        }
        return nil
    }

    /// The declarations of the classes of this process that use the root, or one of the same place.
    static func declarations(of root: String, in roots: Roots) -> [ClassDeclarations] {
        let (place, file) = (roots.place, roots.fileURL)
        let uses = uses.withLock { $0[name(of: root, in: roots)] ?? [] }
        return uses.filter { $0.place === place || file != nil && $0.file == file }.map(\.declarations)
    }

    /// - Parameters:
    ///   - root: the root key; empty for a flat layout.
    ///   - names: the names of the two classes with their modules, in the order of their first instances.
    ///   - contradictions: the keys that the classes declare with different types, in a flat layout also with different
    ///     defaults, sorted.
    static func error(root: String, _ names: [String], contradictions: [String]) -> PrefsError {
        let types = contradictions.map { "\"\(ShownText.key($0))\"" }.joined(separator: ", ")
        let classes = names.joined(separator: " and ")
        let reason =
            root.isEmpty
            ? "\(classes) share a flat layout, and declare \(types) with different types or defaults; "
                + "give one of them another key"
            : "\(classes) share the root \"\(ShownText.key(root))\""
                + (types.isEmpty ? "" : ", and declare \(types) with different types")
                + "; give one of them a root key of its own"
        return .problem(PrefsProblem(.store, reason: reason))
    }

    private static func names(of types: Any.Type...) -> [String] { types.map { String(reflecting: $0) } }
}
