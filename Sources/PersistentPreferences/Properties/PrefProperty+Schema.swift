import Foundation
import PrefsPropertyLists

extension PrefProperty {
    var schema: [String: Any] {
        let coding = coding
        let fallback = encodedDefault(coding)
        // Nothing is known of what the closures of a coding read.
        let type = givenCoding == nil ? ValueSchema(of: Value.self, example: fallback) : nil
        var schema = type?.keywords ?? [:]
        var others: [Any] = []
        var used: Set<String> = []
        for rule in type == nil ? [] : constraint?.rules ?? [] {
            guard let keywords = type.flatMap({ self.keywords(of: rule, $0, coding) }) else { continue }
            if used.isDisjoint(with: keywords.keys) {
                schema.merge(keywords) { $1 }
                used.formUnion(keywords.keys)
            } else {
                others.append(keywords)
            }
        }
        if !others.isEmpty { schema["allOf"] = others }
        if let fallback { schema["default"] = ExportedValue(fallback) }
        if let help { schema["description"] = help }
        if let constraint { schema["$comment"] = constraint.requirement }
        return schema
    }

    /// nil if a schema would reject an object that the property can read.
    private func keywords(of rule: ConstraintRule<Value>, _ type: ValueSchema, _ coding: PrefCoding<Value>) -> [String:
        Any]?
    {
        var keywords: [String: Any] = [:]
        switch rule {
        case .range(let lower, let upper, let includesUpper):
            guard ValueSchema.isNumber(Value.self) else { return nil }
            keywords["minimum"] = lower.flatMap { number($0, coding) }
            keywords[includesUpper ? "maximum" : "exclusiveMaximum"] = upper.flatMap { number($0, coding) }
        case .list(let list):
            let objects = list.compactMap(coding.canonical)
            let isNumber = ValueSchema.isNumber(Value.self)
            guard objects.count == list.count, !isNumber || list.allSatisfy({ number($0, coding) != nil }) else {
                return nil
            }
            return type.listing(objects)
        case .length(let bounds):
            guard Value.self == String.self || Value.self == String?.self else { return nil }
            keywords["minLength"] = bounds.least.map { CanonicalNumber($0).object }
            if bounds.greatest == 0 { keywords["maxLength"] = CanonicalNumber(0).object }
        case .count(let bounds):
            if let name = type.count.minimum { keywords[name] = bounds.least.map { CanonicalNumber($0).object } }
            if let name = type.count.maximum { keywords[name] = bounds.greatest.map { CanonicalNumber($0).object } }
        case .pattern(let pattern):
            guard Value.self == String.self || Value.self == String?.self, SharedPattern.isShared(pattern) else {
                return nil
            }
            keywords["pattern"] = "^(?:\(pattern))$"
        }
        return keywords.isEmpty ? nil : keywords
    }

    /// The object of a finite number whose shortest digits are exactly the number: others may be stored in two forms, as a Float may be.
    private func number(_ value: Value, _ coding: PrefCoding<Value>) -> Any? {
        guard let object = coding.canonical(value) as? NSNumber, object.doubleValue.isFinite,
            Double(PrefDescription.text(of: value)) == object.doubleValue
        else { return nil }
        return object
    }
}

/// The regular expressions that mean the same to Swift and to JSON Schema.
enum SharedPattern {
    /// Whether the pattern consists of ASCII letters, digits and spaces, escaped punctuation, groups, choices, repetitions, and lists of
    /// such characters.
    ///
    /// To Swift, a dot and `\w` match whole characters of any language, and some non-ASCII characters equal an ASCII one.
    static func isShared(_ pattern: String) -> Bool {
        let atom =
            #"(?:[A-Za-z0-9 _@#%&=:~<>,!/-]|\\[.+*?()|/$^\[\]{}\\-]|\[(?:[A-Za-z0-9 _@#%=:,./!+*-]|\\[.+*?()|/$^\[\]{}\\-])+\])"#
        let repetition = #"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})?"#
        let whole = "(?:\\(\\?:|\\(|\\||(?:\(atom)|\\))\(repetition))*"
        return TextPattern.compiled(whole).matches(pattern)
    }
}
