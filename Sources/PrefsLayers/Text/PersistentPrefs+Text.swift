package import PersistentPreferences
import PrefsPropertyLists

/// Values as text, for a tool on any subclass. Does not change ``lastError``.
extension PersistentPrefs {
    /// The value to store for a text, checked against the type and the constraint of the property. nil means that the
    /// key is to be removed.
    ///
    /// The section "Text" of the article "Layers" has the grammar. `null` is nil for an optional, unless it is the text of a value, as for
    /// `String?`.
    ///
    /// A key that an override of ``allowedKeys`` allows has no type. Its text is a string, unless a value is stored: then the
    /// text must have a form of the stored value's property-list type.
    ///
    /// - Throws: `PrefsError.incorrectKeys`; `.typeMismatch` if the text is not a value of the type,
    ///   `.constraintViolated` if it violates the constraint, with the text as what was found;
    ///   `.valuesNotPlistCompatible`; for a key without a type, why the root cannot be read.
    package func storedValue(ofText text: String, forKey key: String) throws(PrefsError) -> StoredValue? {
        func failure(_ reason: String) -> PropertyListFailure {
            PropertyListFailure(path: key, topLevelKey: key, reason: reason)
        }
        let allowed = self.allowed
        guard allowed.contains(key) else { throw .incorrectKeys([key], among: allowed.list) }
        guard let property = declarations[key]?.property as? any TextProperty else {
            let stored = try currentValue(forKey: key) ?? .string("")
            guard let value = Self.value(ofText: text, like: stored) else {
                throw .mismatch(of: [
                    failure("expected \(ValueMismatch.kind(of: stored)), found \"\(ShownText.key(text))\"")
                ])
            }
            return try vetted(value, key)
        }
        switch property.reading(of: text, isSecret: false) {
        case .value(let value, violation: nil): return try vetted(value, key)
        case .value(_, let reason?): throw .violation(of: [failure(reason)])
        case .mismatch(let path, let reason):
            if text == "null", property.acceptsNil { return nil }
            throw .mismatch(of: [PropertyListFailure(path: key + path, topLevelKey: key, reason: reason)])
        }
    }

    /// Whether a key has an optional property, and nil satisfies its check.
    package func acceptsNil(forKey key: String) -> Bool {
        (declarations[key]?.property as? any TextProperty)?.acceptsNil ?? false
    }

    /// The text that ``storedValue(ofText:forKey:)`` reads as exactly this value. It has one line, unless the value is
    /// a string with several lines.
    ///
    /// For a number that another program has stored for a Decimal, returns the text of the equal Decimal. If no text
    /// reads as the value, because another program has stored a value of another type, returns the text of the value
    /// without a type.
    package func text(of value: StoredValue, forKey key: String) -> String {
        (declarations[key]?.property as? any TextProperty)?.text(of: value)
            ?? TextForms.text(of: value) { text in
                Self.value(ofText: text, like: value) == value
            }
    }

    private func vetted(_ value: StoredValue, _ key: String) throws(PrefsError) -> StoredValue {
        do {
            try PropertyListVetter.check(value)
            return value
        } catch {
            throw .unsupportedValues(error.failures(forKey: key))
        }
    }

    /// The value of the same property-list type that the text stands for.
    private static func value(ofText text: String, like stored: StoredValue) -> StoredValue? {
        TextForms(text).values.first { isSameType($0, stored) }
    }

    private static func isSameType(_ left: StoredValue, _ right: StoredValue) -> Bool {
        switch (left, right) {
        case (.string, .string), (.bool, .bool), (.date, .date), (.data, .data), (.array, .array),
            (.dictionary, .dictionary):
            true
        default: left.isNumber && right.isNumber
        }
    }
}
