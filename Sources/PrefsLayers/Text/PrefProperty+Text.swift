import PersistentPreferences
import PrefsJSON
import PrefsPropertyLists

/// The meaning of a text from outside.
enum TextReading {
    /// A value of the type, and the reason why it violates the constraint, with the text; nil if it does not violate it.
    case value(StoredValue, violation: String?)
    /// The text is not a value of the type. The path leads from the value to the part that does not fit.
    case mismatch(path: String, reason: String)

    func result(forKey key: String) -> Result<StoredValue, PropertyListFailure> {
        switch self {
        case .value(let value, violation: nil): .success(value)
        case .value(_, let reason?): .failure(PropertyListFailure(path: key, topLevelKey: key, reason: reason))
        case .mismatch(let path, let reason):
            .failure(PropertyListFailure(path: key + path, topLevelKey: key, reason: reason))
        }
    }
}

/// A property whose values have a form of text.
protocol TextProperty {
    /// The value that a text from outside stands for, such as a variable of the environment.
    ///
    /// - Parameter isSecret: whether no reason may quote the text, also if the property is not sensitive.
    func reading(of text: String, isSecret: Bool) -> TextReading
    /// The text that reads as the stored value.
    func text(of stored: StoredValue) -> String
    /// Whether the property is optional, and nil satisfies a check.
    var acceptsNil: Bool { get }
    /// The texts of all values; nil if they cannot be listed.
    var choices: [String]? { get }
}

/// Values as text, by the declared type: for the environment, for arguments and for the tool.
extension PrefProperty: TextProperty {
    func reading(of text: String, isSecret: Bool) -> TextReading {
        let coding = coding
        let forms = TextForms(text)
        let isSecret = isSecret || isSensitive
        if let (stored, value) = found(forms, coding) {
            let violation = constraint?.violation(value).map { reason in
                // Checks of a sensitive property quote no value; those of another one may.
                isSecret && !isSensitive
                    ? constraint?.requirement ?? reason
                    : reason + (isSecret ? "" : found(text, stored))
            }
            return .value(stored, violation: violation)
        }
        if let listed = listed(coding) {
            let choices = listed.map { self.text(of: $0, coding) }.joined(separator: ", ")
            let found = isSecret ? "another text" : "\"\(ShownText.line(text, longest: 40))\""
            return .mismatch(path: "", reason: "expected one of \(choices), found \(found)")
        }
        if let flaw = flaw(inside: forms.typed, coding) {
            return .mismatch(path: isSecret ? "" : flaw.path, reason: flaw.reason)
        }
        if isSecret { return .mismatch(path: "", reason: "expected \(Value.self), found another text") }
        let example = encodedDefault(coding).map { self.text(of: $0, coding) }
        return .mismatch(path: "", reason: TextMismatch(text, forms, of: Value.self, example: example).reason)
    }

    /// The part of a value that does not fit, or the key that it lacks, with the reason that a file would get; nil if
    /// the value as a whole is of another type.
    private func flaw(inside value: StoredValue?, _ coding: PrefCoding<Value>) -> PropertyListFailure? {
        guard let value, value.isContainer else { return nil }
        do throws(PrefsError) {
            _ = try canonical(value, forKey: "", from: .json)
            return nil
        } catch {
            guard let failure = error.failures.first else { return nil }
            let lacksKey = failure.reason.hasPrefix("the key \"") && failure.reason.hasSuffix("\" is missing")
            return failure.path.isEmpty && !lacksKey ? nil : failure
        }
    }

    func text(of stored: StoredValue) -> String { text(of: stored, coding) }

    var choices: [String]? {
        let coding = coding
        return listed(coding)?.map { text(of: $0, coding) }
    }

    var acceptsNil: Bool {
        guard Value.self is any OptionalValue.Type, let none = Any?.none as? Value else { return false }
        return constraint?.violation(none) == nil
    }

    /// The end of a message about a text. A text that is not a string is not quoted.
    private func found(_ text: String, _ stored: StoredValue) -> String {
        let shown = ShownText.line(text, longest: 40)
        return ", found " + (stored.string == nil ? shown : "\"\(shown)\"")
    }

    /// The stored form of a text, and the value; nil if the text is of another type.
    private func found(_ forms: TextForms, _ coding: PrefCoding<Value>) -> (stored: StoredValue, value: Value)? {
        for stored in forms.values {
            if let value = decoded(stored, coding) { return (stored, value) }
        }
        for written in forms.values {
            guard let value = decoded(written, coding, as: .json), let stored = coding.vetted(value) else {
                continue
            }
            return (stored, value)
        }
        let listed = listedValues?.lazy.compactMap(coding.vetted)
        guard let stored = listed?.first(where: { Self.caseName(of: $0) == forms.text }) else { return nil }
        return decoded(stored, coding).map { (stored, $0) }
    }

    private func text(of stored: StoredValue, _ coding: PrefCoding<Value>) -> String {
        func isText(_ text: String) -> Bool { found(TextForms(text), coding)?.stored == stored }
        if let name = Self.caseName(of: stored), isText(name) { return name }
        return TextForms.text(of: stored, if: isText)
    }

    private func decoded(
        _ stored: StoredValue, _ coding: PrefCoding<Value>, as form: ValueForm = .exact
    ) -> Value? {
        try? coding.value(of: stored, orAs: form) { encodedDefault(coding) }
    }

    /// The values of the type, or of a list in the constraint; nil if they cannot be listed.
    private var listedValues: [Value]? {
        constraint?.listed ?? ListedValues.all(of: Value.self)?.compactMap { $0 as? Value }
    }

    /// The stored forms of the listed values that satisfy the constraint.
    private func listed(_ coding: PrefCoding<Value>) -> [StoredValue]? {
        listedValues?.filter { constraint?.violation($0) == nil }.compactMap(coding.vetted)
    }

    /// The name of a case in the form that the compiler derives for an enum without raw values: `{"light": {}}`.
    private static func caseName(of stored: StoredValue) -> String? {
        guard let members = stored.dictionary, members.count == 1, let member = members.first,
            member.value.dictionary?.isEmpty == true
        else { return nil }
        return member.key
    }
}
