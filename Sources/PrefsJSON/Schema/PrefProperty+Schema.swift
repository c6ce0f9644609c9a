import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// A property whose values have a known JSON Schema. Declared beside its only conformance: a linker takes an object file
/// from a static archive only if a symbol in it is used.
protocol SchemaDescribing {
    /// The keywords of the schema.
    var schema: [String: StoredValue] { get }
}

extension PrefProperty: SchemaDescribing {
    var schema: [String: StoredValue] {
        let coding = coding
        let fallback = encodedDefault(coding)
        // The values that the closures of a coding read are unknown.
        let type = givenCoding == nil ? SchemaRule.schema(ofKey: Value.self, example: fallback) : nil
        var schema = type?.keywords ?? [:]
        var others: [StoredValue] = []
        var used: Set<String> = []
        for part in type == nil ? [] : constraint?.parts() ?? [] {
            guard let keywords = type.flatMap({ self.keywords(of: part, $0, coding) }) else { continue }
            if used.isDisjoint(with: keywords.keys) {
                schema.merge(keywords) { $1 }
                used.formUnion(keywords.keys)
                if keywords["minimum"] != nil, keywords.count > 1 { schema = ValueSchema.finite(schema) }
            } else {
                others.append(.dictionary(keywords))
            }
        }
        if !others.isEmpty { schema["allOf"] = .array(others) }
        if let fallback, !isSensitive { schema["default"] = JSONForm.exported(fallback) }
        if let help { schema["description"] = .string(help) }
        if let constraint { schema["$comment"] = .string(constraint.requirement) }
        return schema
    }

    /// The keywords of a part of the constraint; nil if a schema would reject a value that the property can read.
    private func keywords(
        of part: ConstraintPart, _ type: ValueSchema, _ coding: PrefCoding<Value>
    ) -> [String: StoredValue]? {
        var keywords: [String: StoredValue] = [:]
        switch part {
        case .choices(let range as any BoundedRange):
            guard SchemaRule.isNumber(Value.self) else { return nil }
            let (lower, upper, includesUpper) = range.bounds
            keywords["minimum"] = lower.flatMap { number($0, coding) }
            keywords[includesUpper ? "maximum" : "exclusiveMaximum"] = upper.flatMap { number($0, coding) }
        case .choices(let choices):
            guard let list = choices as? [Value] else { return nil }
            let stored = list.compactMap(coding.vetted)
            let isNumber = SchemaRule.isNumber(Value.self)
            guard stored.count == list.count, !isNumber || list.allSatisfy({ number($0, coding) != nil }) else {
                return nil
            }
            return type.listing(stored)
        case .length(let range):
            guard Value.self == String.self || Value.self == String?.self else { return nil }
            let (least, greatest) = Self.counts(range)
            keywords["minLength"] = least.map { StoredValue($0) }
            if greatest == 0 { keywords["maxLength"] = .integer(0) }
        case .count(let range):
            let (least, greatest) = Self.counts(range)
            if let name = type.count.minimum { keywords[name] = least.map { StoredValue($0) } }
            if let name = type.count.maximum { keywords[name] = greatest.map { StoredValue($0) } }
        case .pattern(let pattern):
            guard Value.self == String.self || Value.self == String?.self, SharedPattern.isShared(pattern) else {
                return nil
            }
            keywords["pattern"] = .string("^(?:\(pattern))$")
        }
        return keywords.isEmpty ? nil : keywords
    }

    /// The least and the greatest number of elements; nil without a limit, and for a range of another type.
    private static func counts(_ range: any RangeExpression<Int>) -> (least: Int?, greatest: Int?) {
        guard let bounds = (range as? any BoundedRange)?.bounds else { return (nil, nil) }
        let upper = bounds.upper as? Int
        return (
            (bounds.lower as? Int).map { max(0, $0) },
            upper.map { max(0, bounds.includesUpper || $0 == .min ? $0 : $0 - 1) }
        )
    }

    /// The stored form of a finite number whose shortest digits are exactly the number; nil for other numbers, which,
    /// like a Float, may have two stored forms.
    private func number(_ value: Any, _ coding: PrefCoding<Value>) -> StoredValue? {
        guard let value = value as? Value, let stored = coding.vetted(value), let number = stored.nearestDouble,
            number.isFinite, Double(ShownText.value(value)) == number
        else { return nil }
        return stored
    }
}

/// The regular expressions that have one meaning in Swift and in JSON Schema.
enum SharedPattern {
    /// Whether the pattern consists of ASCII letters, digits and spaces, escaped punctuation, groups, choices,
    /// repetitions, and lists of such characters.
    ///
    /// To Swift, a dot and `\w` match whole characters of any language, and some non-ASCII characters equal an ASCII
    /// one.
    static func isShared(_ pattern: String) -> Bool {
        let atom =
            #"(?:[A-Za-z0-9 _@#%&=:~<>,!/-]|\\[.+*?()|/$^\[\]{}\\-]|\[(?:[A-Za-z0-9 _@#%=:,./!+*-]|\\[.+*?()|/$^\[\]{}\\-])+\])"#
        let repetition = #"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})?"#
        let whole = "(?:\\(\\?:|\\(|\\||(?:\(atom)|\\))\(repetition))*"
        return TextPattern.compiled(whole).matches(pattern)
    }
}
