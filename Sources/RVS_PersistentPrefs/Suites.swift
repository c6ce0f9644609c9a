import Foundation
import PersistentPreferences

/// The suites that `groupID` names: a store and a `UserDefaults` for each.
enum Suites {
    private static let state = Locked(State())

    private struct Assigned {
        let name: String?
    }

    private struct State {
        /// The assigned names, by class.
        var names: [ObjectIdentifier: Assigned] = [:]
        var stores: [String: PrefsStore] = [:]
        var defaults: [String: UserDefaults] = [:]
    }

    /// The name that was assigned to the class or, if it has none, to the nearest superclass.
    static func name(for type: AnyClass) -> String? {
        state.withLock { state in
            var next: AnyClass? = type
            while let current = next {
                if let assigned = state.names[ObjectIdentifier(current)] { return assigned.name }
                next = _getSuperclass(current)
            }
            return nil
        }
    }

    static func setName(_ name: String?, for type: AnyClass) {
        state.withLock { $0.names[ObjectIdentifier(type)] = Assigned(name: name) }
    }

    static func store(of type: AnyClass) -> PrefsStore {
        guard let name = name(for: type), !name.isEmpty else { return .standard }
        return state.withLock { state in
            let store = state.stores[name] ?? .userDefaults(suite: name)
            state.stores[name] = store
            return store
        }
    }

    /// Whether a store is one that `groupID` names, so that its class does not override `store`.
    static func has(_ store: PrefsStore) -> Bool {
        store.roots === PrefsStore.standard.roots
            || state.withLock { $0.stores.values.contains { $0.roots === store.roots } }
    }

    static func defaults(of type: AnyClass) -> UserDefaults? {
        guard let name = name(for: type), !name.isEmpty else { return .standard }
        return state.withLock { state in
            let defaults = state.defaults[name] ?? UserDefaults.inCLocale { UserDefaults(suiteName: name) }
            state.defaults[name] = defaults
            return defaults
        }
    }
}
