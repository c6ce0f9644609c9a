import Foundation
package import PersistentPreferences
import PrefsJSON
import PrefsKeys
import PrefsStoreKit
import TestSupport

/// One key of an instance, and what an operation does to its value.
///
/// Unchecked because it holds key paths and objects, which no operation changes.
package struct WriteTarget: @unchecked Sendable {
    let prefs: PersistentPrefs
    /// For the operations on a store or a container.
    let store: PrefsStore?
    let key: String
    /// Values of other keys, for the operations that store several. Those that replace all values leave no others.
    let others: [String: Any]
    /// The new value of a former one.
    let new: (Any?) -> Any
    /// Whether it depends on the former one.
    let readsFormer: Bool
    /// Makes another instance of the class.
    let create: (([String: Any]) -> PersistentPrefs)?
    let property: Property?

    /// A declared property.
    struct Property {
        let assign: () -> Void
        let changeInPlace: () -> Void
        let set: () -> PrefsError?
        let modify: () -> PrefsError?
        let reset: () -> PrefsError?
        let setWithoutBlocking: () async -> PrefsError?
        let modifyWithoutBlocking: () async -> PrefsError?
        let resetWithoutBlocking: () async -> PrefsError?
    }

    /// A key without its property, which gets a value.
    ///
    /// - Parameters:
    ///   - create: makes another instance of the class with the given values.
    ///   - new: makes the value.
    package init(
        _ prefs: PersistentPrefs, in store: PrefsStore? = nil, key: String, with others: [String: Any] = [:],
        create: (([String: Any]) -> PersistentPrefs)? = nil, to new: @escaping () -> Any
    ) {
        (self.prefs, self.store, self.key, self.others) = (prefs, store, key, others)
        (self.create, self.new) = (create, { _ in new() })
        (readsFormer, property) = (false, nil)
    }

    /// A property, whose value an operation changes. An operation that does not read it changes its default.
    ///
    /// - Parameters:
    ///   - change: what is done to the value.
    ///   - constant: the new value, if it does not depend on the former one; then no operation reads that one.
    package init<Prefs: PersistentPrefs, Value: Sendable>(
        _ prefs: Prefs, in store: PrefsStore? = nil, _ property: ReferenceWritableKeyPath<Prefs, Value>,
        _ handle: KeyPath<Prefs, PrefHandle<Value>>, with others: [String: Any] = [:], to constant: Value? = nil,
        create: (([String: Any]) -> PersistentPrefs)? = nil,
        change: @escaping @Sendable (inout Value) -> Void
    ) {
        (self.prefs, self.store, self.others, self.create) = (prefs, store, others, create)
        let handle = prefs[keyPath: handle]
        key = handle.key
        readsFormer = constant == nil
        func changed(_ value: Value) -> Value {
            var value = value
            change(&value)
            return value
        }
        new = { changed($0 as? Value ?? handle.defaultValue) }
        self.property = Property(
            assign: { prefs[keyPath: property] = constant ?? changed(prefs[keyPath: property]) },
            changeInPlace: { change(&prefs[keyPath: property]) },
            set: { handle.set(constant ?? changed(handle.value)) }, modify: { handle.modify { change(&$0) } },
            reset: { handle.reset() },
            setWithoutBlocking: { await handle.set(constant ?? changed(handle.value)) },
            modifyWithoutBlocking: { await handle.modify { change(&$0) } },
            resetWithoutBlocking: { await handle.reset() })
    }

    /// A property that gets a value.
    package init<Prefs: PersistentPrefs, Value: Sendable>(
        _ prefs: Prefs, in store: PrefsStore? = nil, _ property: ReferenceWritableKeyPath<Prefs, Value>,
        _ handle: KeyPath<Prefs, PrefHandle<Value>>, to value: Value, with others: [String: Any] = [:],
        create: (([String: Any]) -> PersistentPrefs)? = nil
    ) {
        self.init(
            prefs, in: store, property, handle, with: others, to: value, create: create, change: { $0 = value })
    }

    /// The operations that it has.
    package var operations: [WriteOperation] { WriteOperation.allCases.filter(has) }

    /// Some need a property, another instance, a store, or the key of a container.
    private func has(_ operation: WriteOperation) -> Bool {
        switch operation.subject {
        case .property: property != nil
        case .instance: operation != .initializer || create != nil
        case .container: key == ContainerKey.stringKey && store != nil
        case .store: store != nil
        case .defaults, .document: false
        }
    }

    /// Performs an operation.
    ///
    /// - Returns: the error of the operation, or nil if it succeeded.
    package func perform(_ operation: WriteOperation) async -> PrefsError? {
        precondition(has(operation), "\(operation) is not an operation of this target")
        switch operation {
        case .asyncHandleSet: return await property?.setWithoutBlocking()
        case .asyncHandleModify: return await property?.modifyWithoutBlocking()
        case .asyncHandleReset: return await property?.resetWithoutBlocking()
        case .asyncRemove: return await prefs.reset(key)
        case .asyncUpdate: return await prefs.update { () -> Void in changeByAccesses() }.failure
        case .asyncDictionaryUpdate:
            return await prefs.update { (values: inout [String: Any]) -> Void in change(&values) }.failure
        case .asyncReturningUpdate: return await prefs.update { () -> Int in changeByAccesses() }.failure
        case .asyncReturningDictionaryUpdate:
            return await prefs.update { (values: inout [String: Any]) -> Int in change(&values) }.failure
        default: return performBlocking(operation)
        }
    }

    /// Performs an operation that is not asynchronous.
    ///
    /// - Returns: the error of the operation, or nil if it succeeded.
    package func performBlocking(_ operation: WriteOperation) -> PrefsError? {
        precondition(has(operation), "\(operation) is not an operation of this target")
        switch operation {
        case .property: property?.assign()
        case .propertyInPlace: property?.changeInPlace()
        case .handleSet: return property?.set()
        case .handleModify: return property?.modify()
        case .handleReset: return property?.reset()
        case .subscripted: prefs[key] = new(nil)
        case .subscriptedNil: prefs[key] = nil
        case .remove: return prefs.reset(key)
        case .values: prefs.values = all
        case .valuesInPlace: change(&prefs.values)
        case .initializer: return create?(all).lastError
        case .importedJSON: return imported { try ExportFormat.json.data(of: $0) }
        case .importedXML: return imported { try Self.list($0, .xml) }
        case .importedBinary: return imported { try Self.list($0, .binary) }
        case .importedWhole: return imported(merge: false) { try Self.list($0, .binary) }
        case .update: return prefs.update { () -> Void in changeByAccesses() }.failure
        case .dictionaryUpdate: return prefs.update { (values: inout [String: Any]) -> Void in change(&values) }.failure
        case .returningUpdate: return prefs.update { () -> Int in changeByAccesses() }.failure
        case .returningDictionaryUpdate:
            return prefs.update { (values: inout [String: Any]) -> Int in change(&values) }.failure
        case .clear: return prefs.resetAll()
        case .deleteAll: return prefs.deleteRoot()
        case .containerSubscript, .containerInPlace, .containerSet, .containerReset, .setting, .settingInPlace,
            .settingSet, .settingModify:
            return ContainerKey.failure { performInContainer(operation) }
        case .storeUpdate: return updateStore()
        case .asyncHandleSet, .asyncHandleModify, .asyncHandleReset, .asyncRemove, .asyncUpdate, .asyncDictionaryUpdate,
            .asyncReturningUpdate, .asyncReturningDictionaryUpdate, .keyValue, .keySet, .keyReset, .keyModify,
            .keySubscript, .defaultsSubscript, .settingsSave, .settingsLoad, .settingsLoadFromBundle, .settingsReset,
            .settingsDelete, .modelsSave:
            preconditionFailure("\(operation) does not block, or writes elsewhere")
        }
        return prefs.lastError
    }

    // MARK: - Parts

    private var all: [String: Any] { others.merging([key: new(nil)]) { $1 } }

    /// - Returns: a number, for the updates that return one.
    @discardableResult private func change(_ values: inout [String: Any]) -> Int {
        values.merge(others) { $1 }
        values[key] = new(values[key])
        return 7
    }

    /// The others before and after it, so that a rejection in the middle has something to undo.
    @discardableResult private func changeByAccesses() -> Int {
        for (key, value) in others { prefs[key] = value }
        if let property { property.assign() } else { prefs[key] = new(readsFormer ? prefs[key] : nil) }
        for (key, value) in others { prefs[key] = value }
        return 7
    }

    private func imported(merge: Bool = true, _ data: ([String: Any]) throws -> Data) -> PrefsError? {
        do {
            return prefs.import(try data(all), merge: merge)
        } catch {
            return .unknownError(error: error)
        }
    }

    private static func list(
        _ values: [String: Any], _ format: PropertyListSerialization.PropertyListFormat
    ) throws -> Data {
        try PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0)
    }

    private func updateStore() -> PrefsError? {
        do {
            try store?.update(root: prefs.key) { root in
                var values = root ?? [:]
                change(&values)
                root = values
            }
            return nil
        } catch {
            return error as? PrefsError ?? .unknownError(error: error)
        }
    }

    private func performInContainer(_ operation: WriteOperation) -> PrefsError? {
        guard let store else { preconditionFailure("an operation on a container needs a store") }
        let values = AppSettingsValues(store: store, root: prefs.key)
        let setting = AppSetting(\.writtenNumber, in: values)
        func number(_ former: Int?) -> Int { new(former) as? Int ?? 0 }
        func change(_ value: inout Int) { value = number(value) }
        switch operation {
        case .containerSubscript: values[ContainerKey.self] = number(nil)
        case .containerInPlace: change(&values[ContainerKey.self])
        case .containerSet: return values.set(number(nil), for: ContainerKey.self)
        case .containerReset: return values.reset(ContainerKey.self)
        case .setting: setting.wrappedValue = number(nil)
        case .settingInPlace: change(&setting.wrappedValue)
        case .settingSet: return setting.set(number(nil))
        default: return setting.modify { change(&$0) }
        }
        return nil
    }
}
