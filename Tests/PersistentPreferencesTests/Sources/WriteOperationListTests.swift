import Testing
import WriteOperations

/// `WriteOperation` has every public way to write: a public member either writes by operations of that list, or does not write.
@Suite struct WriteOperationListTests {
    /// The members that write, with the number of their declarations, and the operations that perform them.
    private static let writing: [String: (declarations: Int, operations: [WriteOperation])] = [
        "PersistentPrefs.init": (2, [.initializer]),
        "RVS_PersistentPrefs.init": (3, [.initializer]),
        "PersistentPrefs.subscript": (1, [.subscripted, .subscriptedNil]),
        "PersistentPrefs.values": (1, [.values, .valuesInPlace]),
        "PersistentPrefs.reset(_:_:)": (2, [.remove, .asyncRemove]),
        "PersistentPrefs.resetAll()": (1, [.clear]),
        "PersistentPrefs.deleteRoot()": (1, [.deleteAll]),
        "RVS_PersistentPrefs.clear()": (1, [.clear]),
        "RVS_PersistentPrefs.deleteAll()": (1, [.deleteAll]),
        "PersistentPrefs.import(_:merge:)": (1, [.importedJSON, .importedXML, .importedBinary, .importedWhole]),
        "PersistentPrefs.update(timeout:_:)": (
            4,
            [
                .update, .dictionaryUpdate, .returningUpdate, .returningDictionaryUpdate, .asyncUpdate,
                .asyncDictionaryUpdate, .asyncReturningUpdate, .asyncReturningDictionaryUpdate,
            ]
        ),
        // The compiler makes the property out of these.
        "Pref.subscript": (2, [.property, .propertyInPlace]),
        "PrefHandle.set(_:)": (2, [.handleSet, .asyncHandleSet]),
        "PrefHandle.modify(timeout:_:)": (2, [.handleModify, .asyncHandleModify]),
        "PrefHandle.reset()": (2, [.handleReset, .asyncHandleReset]),
        // SwiftUI; it sets the property.
        "PrefHandle.binding": (1, [.property]),
        "AppSettingsValues.subscript": (1, [.containerSubscript, .containerInPlace]),
        "AppSettingsValues.set(_:for:)": (1, [.containerSet]),
        "AppSettingsValues.reset(_:)": (1, [.containerReset]),
        "AppSetting.wrappedValue": (1, [.setting, .settingInPlace]),
        "AppSetting.set(_:)": (1, [.settingSet]),
        "AppSetting.modify(_:)": (1, [.settingModify]),
        "AppSetting.binding": (1, [.setting]),
        "PrefKey.value": (1, [.keyValue]),
        "PrefKey.set(_:_:)": (1, [.keySet]),
        "PrefKey.modify(in:_:)": (1, [.keyModify]),
        "PrefKey.reset(_:)": (1, [.keyReset]),
        "PrefKey.subscript": (1, [.keySubscript]),
        "UserDefaults.subscript": (1, [.defaultsSubscript]),
        "PrefsStore.update(root:_:)": (1, [.storeUpdate]),
        // The requirement.
        "PrefsBackend.update(root:_:)": (1, [.storeUpdate]),
        // What loads has one for values and one for classes.
        "SettingsFile.save()": (1, [.settingsSave]),
        "SettingsFile.trySave()": (1, [.settingsSave]),
        "SettingsFile.update()": (1, [.settingsSave]),
        "SettingsFile.load()": (2, [.settingsLoad]),
        "SettingsFile.tryLoad()": (2, [.settingsLoad]),
        "SettingsFile.loadUsingSettingsFile()": (2, [.settingsLoadFromBundle]),
        "SettingsFile.reset()": (2, [.settingsReset]),
        "SettingsFile.delete()": (1, [.settingsDelete]),
        "PropertyListController.save()": (1, [.modelsSave]),
    ]

    /// The other members of these types: they read, observe, declare, or change objects alone.
    private static let reading: [String: Set<String>] = [
        "PersistentPrefs": [
            "key", "allowedKeys", "effectiveValues", "effectiveValue(of:)", "description", "lastError",
            "prefsDidFail(_:)", "store", "migrations",
            "rules", "versionKey", "unmarkedVersion", "writeTimeout", "read(_:)",
            "formerRootKeys", "jsonSchema()", "describe()", "source(ofKey:)", "problems()", "exported(as:)",
            "withStore(_:_:)", "withStore(_:isolation:_:)", "onChange(of:on:_:)", "changes(of:)", "publisher(of:)",
            "onError(_:)",
        ],
        "Pref": ["init", "wrappedValue", "projectedValue"],
        "PrefHandle": [
            "key", "defaultValue", "value", "source", "isStored", "isDefault", "onChange(on:_:)", "updates",
            "publisher", "id",
        ],
        "AppSettingsValues": ["init"],
        "AppSetting": ["init", "values", "projectedValue", "onChange(on:_:)", "updates"],
        "PrefKey": [
            "init", "defaultValue", "stringKey", "coding", "didFail(_:)", "get(_:)", "onChange(in:on:_:)", "updates",
        ],
        "UserDefaults": [],
        "PrefsStore": [
            "read(root:)", "observe(root:_:)", "url", "userDefaults(suite:layout:)", "memory()",
            "propertyList(url:format:durability:layout:protection:)",
            "propertyList(program:format:durability:layout:protection:)",
            "json(url:durability:layout:protection:malformed:)",
            "json(program:durability:layout:protection:malformed:)",
            "layered(_:above:below:)", "backend(_:)",
        ],
        "PrefsBackend": ["read(root:)", "observe(root:_:)"],
        "RemotePrefsBackend": ["current(root:)", "lastKnown(root:)"],
        "RVS_PersistentPrefs": [
            "keys", "allowedKeys", "count", "flush()", "groupID", "userDefaults", "store",
            "addObserver(_:forKeyPath:options:context:)",
            "automaticallyNotifiesObservers(forKey:)",
        ],
        "SettingsFile": [
            "settingsURL", "settingsFormat", "initialSettings", "settingsBundle", "copyValues(from:)",
            "settingsDidFail(_:)",
            "toDictionary()",
        ],
        "PropertyListController": ["init", "models"],
    ]

    /// Types of which no member writes.
    private static let values: Set<String> = [
        "Array", "ClosedRange", "ExportFormat", "FileFormat", "InvalidKeys", "Iterator", "Optional",
        "PartialRangeFrom", "PartialRangeThrough", "PartialRangeUpTo", "PrefCoding",
        "PrefDescription", "PrefOption", "PrefSource", "PrefUpdates", "PrefsChange", "PrefsError",
        "PrefsLayer",
        "PrefsMigration", "PrefsObservation", "PrefsProblem", "PrefsRule", "PropertyListDictionary",
        "PropertyListModel", "Range", "StorageFailure", "StoreCheck", "String",
        "_PrefChoices", "_PrefKeyCoding", "_PrefText", "_SettingsURLOfInstance",
        "_SettingsURLSpellings",
    ]

    /// Add a member that writes to `WriteOperation` and to `writing`, another one to `reading` or, with its type, to `values`.
    @Test func everyPublicMemberIsInATable() throws {
        var found: [String: Int] = [:]
        for (member, count) in try PublicMembers.all() where !Self.values.contains(member.type) {
            if Self.reading[member.type]?.contains(member.name) != true { found["\(member)"] = count }
        }
        let unlisted = found.filter { Self.writing[$0.key]?.declarations != $0.value }
        #expect(unlisted.map { "\($0.key), declared \($0.value) times" }.sorted() == [])
        #expect(Set(Self.writing.keys).subtracting(found.keys) == [])
    }

    @Test func everyRowIsOfAMember() throws {
        let members = try PublicMembers.all().keys
        for (type, names) in Self.reading {
            #expect(names.subtracting(members.filter { $0.type == type }.map(\.name)) == [], "\(type)")
        }
        #expect(Self.values.subtracting(members.map(\.type)) == [])
    }

    @Test func everyOperationIsOfAMember() {
        #expect(Set(Self.writing.values.flatMap(\.operations)) == Set(WriteOperation.allCases))
    }
}
