import Foundation
import PrefsPropertyLists

extension PersistentPrefs {
    /// The text of an instance: its class, root key and stored values, with the keys sorted.
    func shownText() -> String {
        let name = "\(type(of: self))(\"\(key)\")"
        switch peek() {
        case .success(let values) where values.isEmpty: return name + " is empty"
        case .success(let values):
            let pairs = shown(values).sorted(byText: \.key).map { "\($0.key): \($0.value)" }
            return name + " {\(pairs.joined(separator: ", "))}"
        case .failure(let error): return name + " cannot be read: \(error)"
        }
    }

    /// The values without secrets.
    fileprivate func shown(_ values: [String: StoredValue]) -> [String: Any] {
        values.mapValues(\.object).merging(
            values.keys.filter(isSensitive).map { ($0, ShownText.hidden) }, uniquingKeysWith: { $1 })
    }

    /// The visible values. The read does not change `lastError`.
    fileprivate func peek() -> Result<[String: StoredValue], PrefsError> {
        do {
            var outcome = AccessOutcome()
            let view = try Root(key, of: state).view(&outcome)
            return .success(allowed.visible(in: try view.values(&outcome)))
        } catch {
            return .failure(PrefsError(error))
        }
    }
}

/// The description of an instance in `dump`.
extension InstanceState: CustomReflectable {
    package var customMirror: Mirror {
        let owner = owner as? PersistentPrefs
        let values: Any =
            switch owner?.peek() {
            case .success(let values)?: owner?.shown(values) ?? [:]
            case .failure(let error)?: error
            case nil: "released"
            }
        return Mirror(
            self, children: ["key": key, "values": values], displayStyle: .class,
            ancestorRepresentation: .suppressed)
    }
}
