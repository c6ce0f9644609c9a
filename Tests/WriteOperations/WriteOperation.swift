/// Every way in which a program writes with this package: the one list.
///
/// The tests of hazards run all of them, or those that their subject has (`of(_:)`, `where` …). `WriteOperationListTests` fails if a public
/// member that writes is in no row of its table, or if an operation is in none. To add an operation, add a case here, its
/// implementation in `WriteTarget` or `DocumentTarget`, whose `switch` does not compile without it, and its row in that table.
package enum WriteOperation: String, CaseIterable, Sendable {
    // A declared property.
    case property, propertyInPlace, handleSet, handleModify, handleReset
    case asyncHandleSet, asyncHandleModify, asyncHandleReset
    // Values of an instance by key. The forms of an import are those of its data.
    case subscripted, subscriptedNil, remove, asyncRemove, values, valuesInPlace, initializer
    case importedJSON, importedXML, importedBinary, importedWhole
    // Transactions. The body of `update` makes other accesses; that of `dictionaryUpdate` changes a dictionary.
    case update, dictionaryUpdate, returningUpdate, returningDictionaryUpdate
    case asyncUpdate, asyncDictionaryUpdate, asyncReturningUpdate, asyncReturningDictionaryUpdate
    // All values of an instance.
    case clear, deleteAll
    // A `PrefKey` in an `AppSettingsValues`.
    case containerSubscript, containerInPlace, containerSet, containerReset
    case setting, settingInPlace, settingSet, settingModify
    // A `PrefKey` in a `UserDefaults`.
    case keyValue, keySet, keyReset, keyModify, keySubscript, defaultsSubscript
    // A store.
    case storeUpdate
    // Documents. The variants that throw and those that return false are one operation.
    case settingsSave, settingsLoad, settingsLoadFromBundle, settingsReset, settingsDelete
    case modelsSave

    /// What an operation writes to.
    package enum Subject: Sendable {
        /// One declared property.
        case property
        /// Any key of an instance, or all.
        case instance
        /// A key of an `AppSettingsValues`.
        case container
        /// A key of a `UserDefaults`.
        case defaults
        /// A root of a store.
        case store
        /// A file that holds one value.
        case document
    }

    /// What an operation does to the stored state.
    package enum Effect: Sendable {
        case puts, removes, empties
    }

    package var subject: Subject {
        switch self {
        case .property, .propertyInPlace, .handleSet, .handleModify, .handleReset, .asyncHandleSet, .asyncHandleModify,
            .asyncHandleReset:
            .property
        case .subscripted, .subscriptedNil, .remove, .asyncRemove, .values, .valuesInPlace, .initializer, .importedJSON,
            .importedXML, .importedBinary, .importedWhole, .update, .dictionaryUpdate, .returningUpdate,
            .returningDictionaryUpdate, .asyncUpdate, .asyncDictionaryUpdate, .asyncReturningUpdate,
            .asyncReturningDictionaryUpdate, .clear, .deleteAll:
            .instance
        case .containerSubscript, .containerInPlace, .containerSet, .containerReset, .setting, .settingInPlace,
            .settingSet, .settingModify:
            .container
        case .keyValue, .keySet, .keyReset, .keyModify, .keySubscript, .defaultsSubscript: .defaults
        case .storeUpdate: .store
        case .settingsSave, .settingsLoad, .settingsLoadFromBundle, .settingsReset, .settingsDelete, .modelsSave:
            .document
        }
    }

    package var effect: Effect {
        switch self {
        case .handleReset, .asyncHandleReset, .subscriptedNil, .remove, .asyncRemove, .containerReset, .keyReset:
            .removes
        case .clear, .deleteAll, .settingsDelete: .empties
        default: .puts
        }
    }

    /// Whether it suspends its caller instead of blocking it.
    package var isAsync: Bool { rawValue.hasPrefix("async") }

    /// Whether it reads and writes in one transaction, so that the increments of several threads or processes add up.
    package var isTransaction: Bool {
        switch self {
        case .handleModify, .asyncHandleModify, .update, .dictionaryUpdate, .returningUpdate,
            .returningDictionaryUpdate, .asyncUpdate, .asyncDictionaryUpdate, .asyncReturningUpdate,
            .asyncReturningDictionaryUpdate, .settingModify, .storeUpdate:
            true
        default: false
        }
    }

    /// Whether it makes other accesses, each of which reports its own error.
    package var isOfAccesses: Bool {
        [.update, .returningUpdate, .asyncUpdate, .asyncReturningUpdate].contains(self)
    }

    /// Whether it leaves the keys alone that it does not name.
    package var keepsOtherKeys: Bool {
        switch self {
        case .values, .importedWhole, .clear, .deleteAll: false
        default: true
        }
    }

    /// Whether it stores the values of several keys at once.
    package var storesSeveralKeys: Bool {
        self == .storeUpdate || subject == .instance && effect == .puts && self != .subscripted
    }

    /// Those that write to one of the subjects.
    package static func of(_ subjects: Subject...) -> [WriteOperation] {
        allCases.filter { subjects.contains($0.subject) }
    }

    /// Those that store any object under a key of an instance, past the type of a property.
    package static let untyped = of(.instance).filter { $0.effect == .puts }
}
