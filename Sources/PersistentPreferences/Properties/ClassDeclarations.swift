import Foundation
import PrefsPropertyLists

/// What a class says of its instances. Asked once per class.
package protocol DeclaringClass: AnyObject {
    static var migrations: [PrefsMigration] { get }
    static var versionKey: String { get }
    static var unmarkedVersion: Int { get }
    static var formerRootKeys: [String] { get }
    static var writeTimeout: Duration? { get }
    static var rules: [PrefsRule] { get }
    /// The base class of all such classes, which declares no property.
    static var declarationBase: AnyClass { get }
}

/// The declared properties of one class and its base classes. The first instance of the class finds them.
package final class ClassDeclarations: Sendable {
    package struct Declaration: Sendable {
        package let name: String
        package let key: String
        /// The class that declares the property.
        let declarer: Any.Type
        /// The property of the first instance.
        package let property: any DeclaredProperty
    }

    package let declarations: [Declaration]
    package let allowed: AllowedKeys
    package let schema: RootSchema
    let shapes = RootShapes()
    private let usesOwnRoot = Locked(false)
    let hasFormerRoots: Bool
    /// How long each write waits for the lock; nil without a limit.
    let writeTimeout: Duration?
    let rules: [PrefsRule]
    private let formerRoots: [String]
    /// The root of instances that are created without a key.
    let ownRoot: String
    private let byKey: [String: Declaration]
    private let undeclaredKeys = Locked(Set<String>())
    /// The keys by the hash of the key path of the wrapper.
    private let keysByStorage = Locked(NumberTable<(path: AnyKeyPath, key: String)>())

    /// By the address of the class.
    private static let known = Locked(NumberTable<ClassDeclarations>())

    /// The declarations of an instance's class. Called by its initializer, before any other thread has the instance.
    /// Inspects every stored property of the first instance.
    static func of(_ prefs: any DeclaringClass) -> (declarations: ClassDeclarations, isNew: Bool) {
        let type = type(of: prefs)
        if let found = known(type) { return (found, false) }
        let new = ClassDeclarations(prefs, type)
        return known.withLock { known in
            if let found = known[number(of: type)] { return (found, false) }
            _ = known.add(new, at: number(of: type))
            return (new, true)
        }
    }

    /// The name of a class, equal to `String(describing:)`. That function searches for conformances first, which would
    /// make programs start more slowly.
    private static func name(of type: any DeclaringClass.Type) -> String { _typeName(type, qualified: false) }

    /// The declarations of a class; nil if it has had no instance.
    static func known(_ type: AnyClass) -> ClassDeclarations? {
        known.withLock { $0[number(of: type)] }
    }

    private static func number(of type: AnyClass) -> Int { Int(bitPattern: ObjectIdentifier(type)) }

    private init(_ prefs: any DeclaringClass, _ type: any DeclaringClass.Type) {
        let found = Self.properties(of: prefs)
        declarations = found.map {
            Declaration(
                name: $0.name, key: $0.property.explicitKey ?? $0.name, declarer: $0.declarer, property: $0.property)
        }
        let byKey = Self.unique(declarations, in: type)
        self.byKey = byKey
        for declaration in declarations { Self.checkDefault(of: declaration, in: type) }
        allowed = AllowedKeys(declarations.map(\.key), versionKey: type.versionKey, isForMany: true)
        ownRoot = Self.name(of: type)
        formerRoots = Self.formerRoots(of: prefs, type)
        hasFormerRoots = !formerRoots.isEmpty
        writeTimeout = type.writeTimeout
        rules = type.rules
        schema = RootSchema(
            migrations: type.migrations, className: ownRoot, versionKey: type.versionKey,
            unmarkedVersion: type.unmarkedVersion,
            renames: declarations.filter { !$0.property.formerKeys.isEmpty }
                .map { ($0.key, $0.property.formerKeys) })
    }

    /// The declaration of a single property, which has a key.
    init(of property: any DeclaredProperty) {
        ownRoot = ""
        declarations = [
            Declaration(name: "", key: property.explicitKey ?? "", declarer: type(of: property), property: property)
        ]
        byKey = [declarations[0].key: declarations[0]]
        allowed = AllowedKeys(
            [declarations[0].key], versionKey: RootSchema.defaultVersionKey, isForMany: false)
        (formerRoots, hasFormerRoots, writeTimeout, rules) = ([], false, nil, [])
        schema = RootSchema(migrations: [], className: "", renames: [])
    }

    package subscript(key: String) -> Declaration? { byKey[key] }

    /// The stored value of a key. A stored null is nil, unless the property is an optional.
    package func value(_ stored: StoredValue?, ofKey key: String) -> StoredValue? {
        guard let stored, stored.isNull else { return stored }
        return self[key]?.property.valueType is any OptionalValue.Type ? stored : nil
    }

    /// The roots to look for if this one is missing.
    func formerRoots(of root: String) -> [String] {
        !hasFormerRoots || root != ownRoot ? [] : formerRoots
    }

    /// Whether this is the first use of the root of instances that are created without a key.
    func isFirstUse(of root: String) -> Bool {
        root == ownRoot
            && usesOwnRoot.withLock { isUsed in
                defer { isUsed = true }
                return !isUsed
            }
    }

    /// The keys that the other class declares with another type or, if that counts, with another default. Both may
    /// inherit one declaration.
    func contradictions(with other: ClassDeclarations, inDefaults: Bool) -> [String] {
        declarations.filter { own in
            guard let other = other[own.key], other.declarer != own.declarer else { return false }
            return other.property.valueType != own.property.valueType
                || inDefaults && other.property.storedDefault != own.property.storedDefault
        }.map(\.key).sorted()
    }

    var isEmpty: Bool { declarations.isEmpty }

    /// Whether the values of a key are hidden: `@Pref(.sensitive)`.
    package func isSensitive(_ key: String) -> Bool { byKey[key]?.property.isSensitive ?? false }

    /// The key of a property of an instance of the class.
    package func key(of property: any DeclaredProperty, in prefs: any DeclaringClass, at storage: AnyKeyPath) -> String
    {
        if let key = property.explicitKey, byKey[key] != nil { return key }
        if property.explicitKey == nil {
            let hash = storage.hashValue
            if let known = keysByStorage.withLock({ $0[hash] }), known.path == storage { return known.key }
            // Looked up without the key path, because describing a key path for the first time costs 1.9 million
            // instructions.
            let own = declarations.first { $0.property === property }?.key
            if let key = own ?? name(at: storage) ?? name(of: property, in: prefs) {
                keysByStorage.withLock { _ = $0.add((storage, key), at: hash) }
                return key
            }
        }
        fatalError(
            "\(type(of: prefs)): a @Pref property has another key than in the first instance, or a custom mirror hides it"
        )
    }

    /// The name of the property, which is its key, from the description of the key path: `\EditorPrefs._size`.
    /// Does not touch the instance, because another thread may be using its other properties.
    private func name(at storage: AnyKeyPath) -> String? {
        let path = storage.debugDescription
        let found = declarations.filter { declaration in
            declaration.property.explicitKey == nil
                && (path.hasSuffix("._" + declaration.name)
                    || path.hasSuffix("." + Self.rawStorage(of: declaration.name)))
        }
        return found.count == 1 ? found.first?.name : nil
    }

    /// The name of a property whose name contains a dot.
    private func name(of property: any DeclaredProperty, in prefs: any DeclaringClass) -> String? {
        Self.properties(of: prefs).first { $0.property === property && byKey[$0.name] != nil }?.name
    }

    /// Records the keys of an override.
    package func record(_ keys: [String]) {
        let new = keys.filter { byKey[$0] == nil }
        if !new.isEmpty { undeclaredKeys.withLock { $0.formUnion(new) } }
    }

    /// The keys that overrides of `allowedKeys` have added in instances so far.
    package var knownUndeclaredKeys: Set<String> { undeclaredKeys.withLock { $0 } }

    /// A root in the shape that the class expects. Runs the code of migrations and codings.
    ///
    /// - Parameter last: the shape of an earlier state. Values that are equal there are not decoded again.
    func shape(
        of stored: [String: StoredValue], root: String, as form: ValueForm, after last: RootShape? = nil
    ) throws(PrefsError) -> RootShape {
        let migrated = try schema.current(stored, root: root) ?? stored
        var current = migrated
        if form != .exact {
            for key in byKey.keys {
                guard let value = migrated[key] else { continue }
                if let last, last.migrated[key] == value {
                    current[key] = last.current[key]
                } else {
                    current[key] = canonical(value, forKey: key, from: form)
                }
            }
            for (key, value) in migrated where byKey[key] == nil && !value.isPlain { current[key] = value.plain }
        }
        return RootShape(migrated: migrated, current: current)
    }

    /// A value in the form in which its property stores it, or as a property list holds it if it has no property. A value
    /// that its property cannot read stays as it is.
    func canonical(_ value: StoredValue, forKey key: String, from form: ValueForm) -> StoredValue {
        if form == .exact { return value }
        guard let property = byKey[key]?.property else { return value.plain }
        return (try? property.canonical(value, forKey: key, from: form)) ?? value
    }

    /// Checks the types and the constraints of values. Any value may replace one that its property cannot read.
    ///
    /// - Parameter form: the accepted form of a value that is replaced.
    /// - Throws: `PrefsError.typeMismatch`, `.constraintViolated`.
    func checked(_ change: RootChange, as form: ValueForm) throws(PrefsError) -> RootChange {
        var checked = change
        try check(change.assigned) { key, property in
            guard let former = change.former(of: key)?.present(),
                property.error(of: former, forKey: key, as: form) != nil
            else { return false }
            checked.replacesUnreadable = true
            return true
        }
        return checked
    }

    /// Checks the types and the constraints of values.
    ///
    /// - Parameter isAnyAccepted: whether a key may get a value that its property cannot read.
    /// - Throws: `PrefsError.typeMismatch`, `.constraintViolated`.
    func check(
        _ values: [String: StoredValue],
        unless isAnyAccepted: (String, any DeclaredProperty) -> Bool = { _, _ in false }
    ) throws(PrefsError) {
        if byKey.isEmpty { return }
        let errors = values.compactMap { key, value -> PrefsError? in
            guard let property = byKey[key]?.property, let error = property.error(of: value, forKey: key) else {
                return nil
            }
            return isAnyAccepted(key, property) ? nil : error
        }
        if errors.isEmpty { return }
        let failures = errors.flatMap(\.failures).sorted(byText: \.path)
        let isOfType = errors.contains { if case .typeMismatch = $0 { true } else { false } }
        throw isOfType ? .mismatch(of: failures) : .violation(of: failures)
    }

    // MARK: - Inspecting an instance

    private typealias Found = (name: String, property: any DeclaredProperty, declarer: Any.Type)

    /// The `@Pref` properties of an instance, properties of base classes first.
    private static func properties(of prefs: any DeclaringClass) -> [Found] {
        let base: Any.Type = type(of: prefs).declarationBase
        var found: [Found] = []
        var mirror: Mirror? = Mirror(reflecting: prefs)
        while let current = mirror, current.subjectType != base {
            // The first iterator of children would cost a program 650,000 instructions; `map` makes none.
            let own = current.children.map { label, value -> Found? in
                guard let label, let pref = wrapper(value) else { return nil }
                return (name(ofStorage: label), pref.declaredProperty, current.subjectType)
            }
            found = own.compactMap { $0 } + found
            mirror = current.superclassMirror
        }
        return found
    }

    /// Generic, because the cast of an `Any` asks first whether `Any` conforms, which costs a program 220,000 instructions.
    @inline(never)
    private static func wrapper<Value>(_ value: Value) -> (any PrefWrapper)? { value as? any PrefWrapper }

    /// The name of a property by that of its storage, which has an underscore before it. Reflection gives a raw identifier
    /// (SE-0451) in backticks, with no-break spaces for its blanks.
    private static func name(ofStorage label: String) -> String {
        var scalars = label.unicodeScalars[...]
        if scalars.count > 1, scalars.first == "`", scalars.last == "`" {
            scalars = scalars.dropFirst().dropLast()
            if scalars.contains("\u{A0}") {
                scalars = String.UnicodeScalarView(scalars.map { $0 == "\u{A0}" ? " " : $0 })[...]
            }
        }
        return String(scalars.first == "_" ? scalars.dropFirst() : scalars)
    }

    /// The name of the storage of a raw identifier in reflection.
    private static func rawStorage(of name: String) -> String {
        "`_" + String(String.UnicodeScalarView(name.unicodeScalars.map { $0 == " " ? "\u{A0}" : $0 })) + "`"
    }

    /// The former root keys of the class. An inherited list belongs to the base class.
    private static func formerRoots(of prefs: any DeclaringClass, _ type: any DeclaringClass.Type) -> [String] {
        let formerKeys = type.formerRootKeys
        if formerKeys.isEmpty { return [] }
        let base = Mirror(reflecting: prefs).superclassMirror?.subjectType as? any DeclaringClass.Type
        if base?.formerRootKeys == formerKeys { return [] }
        for key in formerKeys {
            do {
                try NameVetting.checkRoot(key)
            } catch {
                fatalError("\(type): \"\(key)\" in formerRootKeys cannot be a root key: \(error)")
            }
            if key == String(describing: type) { fatalError("\(type): formerRootKeys contains the current root key") }
        }
        return formerKeys
    }

    /// Stops the program if a default is not valid.
    private static func checkDefault(of declaration: Declaration, in type: Any.Type) {
        guard let reason = declaration.property.defaultViolation else { return }
        let value = declaration.property.anyDefaultValue
        let text = (value as? String).map { "\"\($0)\"" } ?? ShownText.value(value)
        let shown = declaration.property.isSensitive ? ShownText.hidden : ShownText.line(text, longest: 80)
        fatalError("\(type): the default of the property \"\(declaration.name)\" is \(shown), but \(reason)")
    }

    private static func names(of one: Declaration, and other: Declaration) -> String {
        if one.declarer == other.declarer { return "the properties \"\(one.name)\" and \"\(other.name)\"" }
        // Classes of two modules may have the same name.
        let isAmbiguous = "\(one.declarer)" == "\(other.declarer)"
        let places = [one, other].map { declaration in
            let declarer = isAmbiguous ? String(reflecting: declaration.declarer) : "\(declaration.declarer)"
            return "the property \"\(declaration.name)\" of \(declarer)"
        }
        return places.joined(separator: " and ")
    }

    /// Stops the program if two properties share a key, because one of them would lose its values.
    private static func unique(_ declarations: [Declaration], in type: any DeclaringClass.Type) -> [String: Declaration]
    {
        var byKey: [String: Declaration] = [:]
        var byProperty = NumberTable<Declaration>()
        func stop(_ flaw: String) -> Never { fatalError("\(type): \(flaw)") }
        for declaration in declarations {
            let property = "the property \"\(declaration.name)\""
            let keys = declaration.property.givenKeys
            if keys.count > 1 { stop("\(property) has two keys, \"\(keys[0])\" and \"\(keys[1])\"") }
            for (key, isFormer) in [(declaration.key, false)] + declaration.property.formerKeys.map({ ($0, true) }) {
                if let flaw = NameVetting.flaw(ofKey: key) {
                    stop("a \(isFormer ? "former key" : "key") of \(property) is invalid: \(flaw)")
                }
                if key == type.versionKey {
                    stop("\(isFormer ? "a former key" : "the key") of \(property) is reserved")
                }
            }
            if let other = byProperty.add(declaration, at: Int(bitPattern: ObjectIdentifier(declaration.property))) {
                stop("the properties \"\(other.name)\" and \"\(declaration.name)\" share one Pref; create one for each")
            }
            if let other = byKey.updateValue(declaration, forKey: declaration.key) {
                stop(
                    "\(names(of: other, and: declaration)) have one key, \"\(declaration.key)\"; give one a key of its own"
                )
            }
        }
        for declaration in declarations {
            for key in declaration.property.formerKeys {
                guard let other = byKey[key] else { continue }
                stop(
                    "\"\(key)\" is a former key of the property \"\(declaration.name)\" and the key of the property "
                        + "\"\(other.name)\"")
            }
        }
        return byKey
    }
}
