public import Foundation
public import PersistentPreferences

/// The test set of the command-line tool, the tests and the benchmarks: five values, one of each common type.
///
/// As in `RVS_PersistentPrefs_TestSet`, typed accessors read and write the values. A write of another type is rejected. A value that is absent, or of another type, reads as its default
/// value: see ``defaultValues``. Cost, errors and threads are as for ``PersistentPrefs``.
open class PrefsTestSet: PersistentPrefs, @unchecked Sendable {
    private static let allKeys = [
        "Integer Value", "String Value", "Array Value", "Dictionary Value", "Date Value",
    ]

    private static let defaults = (
        int: 10, string: "Sample String", array: ["One", "Two", "Three", "Four", "Five"],
        dictionary: ["One": "First", "Two": "Second", "Three": "Third"], date: Date(timeIntervalSinceReferenceDate: 0)
    )

    // Declares the types, the default values and the help. The accessors below use the keys, because a property with a
    // wrapper cannot be `@objc dynamic`.
    private let _int = Pref(wrappedValue: defaults.int, .key(allKeys[0]), .help("A whole number."))
    private let _string = Pref(wrappedValue: defaults.string, .key(allKeys[1]), .help("A text."))
    private let _array = Pref(wrappedValue: defaults.array, .key(allKeys[2]), .help("A list of texts."))
    private let _dictionary = Pref(wrappedValue: defaults.dictionary, .key(allKeys[3]), .help("Texts by name."))
    private let _date = Pref(wrappedValue: defaults.date, .key(allKeys[4]), .help("A moment."))

    /// The default values, which `init(key:)` and `reset()` store.
    public static var defaultValues: [String: Any] {
        [
            allKeys[0]: defaults.int, allKeys[1]: defaults.string, allKeys[2]: defaults.array,
            allKeys[3]: defaults.dictionary, allKeys[4]: defaults.date,
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
    public override init(key: String? = nil, values: [String: Any]? = nil, store: PrefsStore? = nil) {
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

    /// The Integer Value; 10 if none is stored.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public dynamic var int: Int {
        get { self[intKey] as? Int ?? Self.defaults.int }
        set { self[intKey] = newValue }
    }

    /// The String Value; "Sample String" if none is stored.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public dynamic var string: String {
        get { self[stringKey] as? String ?? Self.defaults.string }
        set { self[stringKey] = newValue }
    }

    /// The Array Value; "One" to "Five" if none is stored.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public dynamic var array: [String] {
        get { self[arrayKey] as? [String] ?? Self.defaults.array }
        set { self[arrayKey] = newValue }
    }

    /// The Dictionary Value; three texts if none is stored.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public dynamic var dictionary: [String: String] {
        get { self[dictionaryKey] as? [String: String] ?? Self.defaults.dictionary }
        set { self[dictionaryKey] = newValue }
    }

    /// The Date Value; the beginning of 2001 in UTC if none is stored.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public dynamic var date: Date {
        get { self[dateKey] as? Date ?? Self.defaults.date }
        set { self[dateKey] = newValue }
    }

    /// Replaces all values with the default values.
    public func reset() {
        values = Self.defaultValues
    }
}
