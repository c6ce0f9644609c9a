import PrefsPropertyLists

/// What a text from outside stands for.
enum TextReading {
    /// A value of the type, and why it violates the constraint; nil if it does not.
    case object(Any, violation: String?)
    /// No value of the type, for this reason.
    case mismatch(String)

    func result(forKey key: String) -> Result<Any, PropertyListFailure> {
        switch self {
        case .object(let object, violation: nil): .success(object)
        case .object(_, let reason?), .mismatch(let reason):
            .failure(PropertyListFailure(path: key, topLevelKey: key, reason: reason))
        }
    }
}

/// Values as text, by the declared type: for the environment, for arguments and for the tool.
extension PrefProperty {
    func reading(of text: String) -> TextReading {
        let coding = coding
        let forms = TextForms(text)
        if let (object, value) = found(forms, coding) {
            return .object(object, violation: constraint?.violation(value))
        }
        if let listed = listedObjects(coding) {
            let choices = listed.map { self.text(of: $0, coding) }.joined(separator: ", ")
            return .mismatch("expected one of \(choices), found \"\(ShownText.line(text, longest: 40))\"")
        }
        return .mismatch(TextMismatch(text, forms, of: Value.self).reason)
    }

    func text(of object: Any) -> String { text(of: object, coding) }

    var choices: [String]? {
        let coding = coding
        return listedObjects(coding)?.map { text(of: $0, coding) }
    }

    var acceptsNil: Bool {
        guard Value.self is any OptionalValue.Type, let none = Any?.none as? Value else { return false }
        return constraint?.violation(none) == nil
    }

    /// The object and the value of a text; nil if it is of another type.
    private func found(_ forms: TextForms, _ coding: PrefCoding<Value>) -> (object: Any, value: Value)? {
        for object in forms.objects {
            if let value = decoded(object, coding) { return (object, value) }
        }
        guard
            let object = listedValues?.lazy.compactMap(coding.canonical).first(where: {
                Self.caseName(of: $0) == forms.text
            })
        else {
            return nil
        }
        return decoded(object, coding).map { (object, $0) }
    }

    private func text(of object: Any, _ coding: PrefCoding<Value>) -> String {
        func isText(_ text: String) -> Bool {
            found(TextForms(text), coding).map { CanonicalValue.areEqual($0.object, object) } ?? false
        }
        if let name = Self.caseName(of: object), isText(name) { return name }
        return TextForms.text(of: object, if: isText)
    }

    private func decoded(_ object: Any, _ coding: PrefCoding<Value>) -> Value? {
        try? coding.decode(object) { encodedDefault(coding) }
    }

    /// The values of the type or of a list in the constraint; nil if they cannot be listed.
    private var listedValues: [Value]? {
        constraint?.listed ?? ListedValues.all(of: Value.self)?.compactMap { $0 as? Value }
    }

    /// The objects of those that the constraint accepts.
    private func listedObjects(_ coding: PrefCoding<Value>) -> [Any]? {
        listedValues?.filter { constraint?.violation($0) == nil }.compactMap(coding.canonical)
    }

    /// The name of a case in the form that the compiler derives for an enum without raw values: `{"light": {}}`.
    private static func caseName(of object: Any) -> String? {
        guard case .dictionary(let members) = CanonicalForm(object), members.count == 1, let member = members.first,
            case .dictionary(let parameters) = CanonicalForm(member.value), parameters.isEmpty
        else { return nil }
        return member.key
    }
}
