public import Foundation
public import PersistentPreferences

/// The sample set of the command-line tool, the tests and the benchmarks: five values, one of each common type.
///
/// As in `RVS_PersistentPrefs_TestSet`, typed accessors read and write the values, and can be key-value observed on
/// Apple platforms. A write of another type is rejected. A value that is absent, or of another type, reads as the empty
/// value of its type. Cost, errors and threads are as for ``PersistentPrefs``.
open class PrefsTestSet: PersistentPrefs, @unchecked Sendable {
    private static let allKeys = [
        "Integer Value", "String Value", "Array Value", "Dictionary Value", "Date Value",
    ]

    // Declares the types, the empty values and the help. The accessors below use the keys, because a property with a
    // wrapper cannot be `@objc dynamic`.
    private let _int = Pref(wrappedValue: 0, .key(allKeys[0]), .help("A whole number."))
    private let _string = Pref(wrappedValue: "", .key(allKeys[1]), .help("A text."))
    private let _array = Pref(wrappedValue: [String](), .key(allKeys[2]), .help("A list of texts."))
    private let _dictionary = Pref(wrappedValue: [String: String](), .key(allKeys[3]), .help("Texts by name."))
    private let _date = Pref(wrappedValue: Date.distantPast, .key(allKeys[4]), .help("A moment."))

    /// The values that `init(key:)` and `reset()` store.
    public static var defaultValues: [String: Any] {
        [
            allKeys[0]: 10,
            allKeys[1]: "Sample String",
            allKeys[2]: ["One", "Two", "Three", "Four", "Five"],
            allKeys[3]: ["One": "First", "Two": "Second", "Three": "Third"],
            allKeys[4]: Date(timeIntervalSinceReferenceDate: 0),
        ]
    }

    /// Creates an instance with a root key. Stores the default values if nothing is stored under the key.
    public init(key: String) {
        super.init(key: key)
        // Reads first, so that an existing set costs no lock. Then checks again under the lock, so that no other writer
        // comes in between.
        if values.isEmpty, lastError == nil {
            update { if $0.isEmpty { $0 = Self.defaultValues } }
        }
    }

    /// Creates an instance with a root key, and merges values into what is stored there. Stores no defaults.
    public override init(key: String? = nil, values: [String: Any]? = nil) {
        super.init(key: key, values: values)
    }

    /// Creates an instance with a root key in a given store.
    public override init(key: String? = nil, values: [String: Any]? = nil, store: any PrefsStore) {
        super.init(key: key, values: values, store: store)
    }

    /// The key of ``int``: "Integer Value".
    public var intKey: String { Self.allKeys[0] }
    /// The key of ``string``: "String Value".
    public var stringKey: String { Self.allKeys[1] }
    /// The key of ``array``: "Array Value".
    public var arrayKey: String { Self.allKeys[2] }
    /// The key of ``dictionary``: "Dictionary Value".
    public var dictionaryKey: String { Self.allKeys[3] }
    /// The key of ``date``: "Date Value".
    public var dateKey: String { Self.allKeys[4] }

    /// The Integer Value; 0 if none is stored.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public dynamic var int: Int {
        get { self[intKey] as? Int ?? 0 }
        set { self[intKey] = newValue }
    }

    /// The String Value; empty if none is stored.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public dynamic var string: String {
        get { self[stringKey] as? String ?? "" }
        set { self[stringKey] = newValue }
    }

    /// The Array Value; empty if none is stored.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public dynamic var array: [String] {
        get { self[arrayKey] as? [String] ?? [] }
        set { self[arrayKey] = newValue }
    }

    /// The Dictionary Value; empty if none is stored.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public dynamic var dictionary: [String: String] {
        get { self[dictionaryKey] as? [String: String] ?? [:] }
        set { self[dictionaryKey] = newValue }
    }

    /// The Date Value; `Date.distantPast` if none is stored.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public dynamic var date: Date {
        get { self[dateKey] as? Date ?? .distantPast }
        set { self[dateKey] = newValue }
    }

    /// Replaces all values with the default values.
    public func reset() {
        values = Self.defaultValues
    }
}
