import PersistentPreferences
import PrefsFileEngine
import PrefsJSON
import PrefsPropertyLists

/// Values of a program, including values that a property list cannot hold.
struct LayerValues: Sendable {
    let values: [String: StoredValue]
    let faults: [PrefsProblem]
}

/// The entries of a layer at one moment.
enum LayerEntries: Sendable {
    case text(TextLayer)
    case values(LayerValues)
    case file(LayerFile.Reading, DomainLayout)
    case secrets(SecretsFolder.Reading)
    /// Returns the value that an administrator forces for a key.
    case managed(@Sendable (String) -> Any?)
    /// The layer cannot be read; the text says why.
    case broken(String)

    /// The texts, if the entries are texts.
    var texts: TextLayer? {
        if case .text(let texts) = self { texts } else if case .secrets(let read) = self { read.texts } else { nil }
    }

    /// The folder of secrets that the entries are from.
    var secrets: SecretsFolder? { if case .secrets(let reading) = self { reading.folder } else { nil } }

    /// The values of a root that need no type. Managed values are left out, because they can only be read by key.
    func values(of root: String) -> [String: StoredValue] {
        switch self {
        case .values(let values): values.values
        case .file(let reading, let layout): (try? layout.dictionary(of: root, in: reading.content)) ?? [:]
        case .text, .secrets, .managed, .broken: [:]
        }
    }

    /// The faults of the layer as a whole, and of a root in it.
    func faults(of root: String, layer: String) -> [PrefsProblem] {
        switch self {
        case .text, .managed: return []
        case .values(let values): return values.faults
        case .broken(let reason): return [PrefsProblem(layer: layer, place: "", reason: reason, kind: .store)]
        case .secrets(let reading):
            return reading.files.failure.map {
                [PrefsProblem(layer: layer, place: "", reason: $0.reason, kind: .store)]
            }
                ?? []
        case .file(let reading, let layout):
            let reason = reading.fault ?? Self.fault(of: root, in: reading, layout)
            return reason.map { [PrefsProblem(layer: layer, place: reading.path, reason: $0, kind: .store)] } ?? []
        }
    }

    private static func fault(of root: String, in reading: LayerFile.Reading, _ layout: DomainLayout) -> String? {
        do {
            _ = try layout.dictionary(of: root, in: reading.content)
            return nil
        } catch {
            return "the root \"\(ShownText.key(root))\" is not a dictionary"
        }
    }

    /// Whether the entries stay the same as long as the object is kept.
    var isConstant: Bool {
        if case .managed = self { false } else { true }
    }
}

/// A layer with its entries at one moment.
struct LayerState: Sendable {
    let name: String
    let entries: LayerEntries

    typealias Entry = (place: String, value: Result<StoredValue, PropertyListFailure>)

    /// The place and the value of a key, or the reason why the value does not fit the property; nil if the layer has no
    /// value.
    ///
    /// - Parameters:
    ///   - declarations: those of the class; nil leaves out the layers of text.
    ///   - sections: the fields by which values are merged. The value then has only those that were written.
    func entry(
        forKey key: String, root: String, in declarations: ClassDeclarations?, _ sections: SectionFields? = nil
    ) -> Entry? {
        func part(
            _ value: Result<StoredValue, PropertyListFailure>, writtenAs raw: @autoclosure () -> StoredValue?
        ) -> Result<StoredValue, PropertyListFailure> {
            sections.map { sections in value.map { sections.part(of: $0, writtenAs: raw() ?? $0) } } ?? value
        }
        let property = declarations?[key]?.property
        switch entries {
        case .text, .secrets:
            guard let declarations, let found = entries.texts?.entry(forKey: key, in: declarations).text else {
                return nil
            }
            let value = Self.value(of: found, key, property, isSecret: entries.secrets != nil)
            return (found.place, part(value, writtenAs: found.dictionary))
        case .values, .file:
            let versioned = declarations.flatMap { self.versioned(root, for: $0) }
            let values = versioned?.values ?? entries.values(of: root)
            guard let value = values[key]?.present(as: property?.valueType) else { return nil }
            return (place(of: key), part(Self.checked(value, key, property, as: form), writtenAs: value))
        case .managed(let forced):
            guard let object = forced(key) else { return nil }
            do {
                let value = try PropertyListVetter.value(of: object)
                return (key, Self.checked(value, key, property, as: .exact))
            } catch {
                return (key, .failure(error.failure(forKey: key)))
            }
        case .broken: return nil
        }
    }

    /// The root in the current shape of a class; nil if it does not say which version it has.
    func versioned(_ root: String, for declarations: ClassDeclarations) -> VersionedValues? {
        guard case .file(let reading, _) = entries else { return nil }
        return reading.versioned(entries.values(of: root), root: root, for: declarations)
    }

    /// That the root could not be migrated; nil if it could, or if it need not be.
    func failedMigration(of root: String, in declarations: ClassDeclarations) -> PrefsProblem? {
        guard case .file(let reading, _) = entries, let reason = versioned(root, for: declarations)?.fault else {
            return nil
        }
        return PrefsProblem(layer: name, place: reading.path, reason: reason, kind: .version)
    }

    /// The fields of a key that the layer has texts for. Each text is read by the type of its field: as the field of the
    /// default, it makes a valid value.
    func fields(
        ofKey key: String, in declarations: ClassDeclarations
    ) -> [(name: String, place: String, value: Result<StoredValue, PropertyListFailure>)] {
        guard let layer = entries.texts, let property = declarations[key]?.property else { return [] }
        let found = layer.entry(forKey: key, in: declarations).fields.sorted { $0.key < $1.key }
        guard !found.isEmpty, let start = property.storedDefault?.dictionary else { return [] }
        return found.compactMap { name, found in
            let text: String
            switch found.content {
            case .text(let content): text = content
            // The type of the field is unknown.
            case .empty, .texts: text = ""
            case .flaw(let reason):
                return (name, found.place, .failure(.init(path: key, topLevelKey: key, reason: reason)))
            }
            let readings = TextForms(text).values.map { StoredValue.dictionary(start.merging([name: $0]) { $1 }) }
            let value =
                readings.first { property.error(of: $0, forKey: key) == nil }
                ?? readings.lazy.compactMap { try? property.canonical($0, forKey: key, from: .json) }.first
            if let value = value?.dictionary?[name] { return (name, found.place, .success(value)) }
            let errors = readings.compactMap { property.error(of: $0, forKey: key) }
            // A constraint is broken by a value of the right type.
            let error = errors.first { if case .constraintViolated = $0 { true } else { false } } ?? errors.first
            return (error?.failures.first).map { failure in
                (name, found.place, .failure(entries.secrets == nil ? failure : Self.hidden(failure, error)))
            }
        }
    }

    /// The fault of a name that the key shares with another one; nil if its names are its own.
    func sharedName(ofKey key: String, in declarations: ClassDeclarations) -> PrefsProblem? {
        guard let layer = entries.texts else { return nil }
        let note = layer.entry(forKey: key, in: declarations).sharedName
        return note.map { PrefsProblem(layer: name, place: $0.place, reason: $0.reason, kind: .unknownKey) }
    }

    private static func value(
        of text: LayerText, _ key: String, _ property: (any DeclaredProperty)?, isSecret: Bool
    ) -> Result<StoredValue, PropertyListFailure> {
        func reading(_ text: String) -> TextReading {
            (property as? any TextProperty)?.reading(of: text, isSecret: isSecret)
                ?? .value(.string(text), violation: nil)
        }
        switch text.content {
        case .flaw(let reason): return .failure(.init(path: key, topLevelKey: key, reason: reason))
        case .text(let text): return reading(text).result(forKey: key)
        case .empty:
            let isOptional = property?.valueType is any OptionalValue.Type
            return isOptional ? checked(.null, key, property, as: .exact) : reading("").result(forKey: key)
        case .texts(let texts):
            var elements: [StoredValue] = []
            for text in texts {
                let reading = reading(text)
                guard case .value(let list, _) = reading else { return reading.result(forKey: key) }
                elements += list.array ?? [list]
            }
            // The constraint holds for the whole list, whose parts may violate it. A set has no element twice.
            let list = StoredValue.array(elements)
            return checked(
                (try? property?.canonical(list, forKey: key, from: .exact)) ?? list, key, property, as: .exact)
        }
    }

    /// A failure without the path inside a secret, and without the words of a check, which may quote it.
    private static func hidden(_ failure: PropertyListFailure, _ error: PrefsError?) -> PropertyListFailure {
        let key = failure.topLevelKey
        guard case .constraintViolated = error else {
            return .init(path: key, topLevelKey: key, reason: failure.reason)
        }
        return .init(path: key, topLevelKey: key, reason: "violates the constraint of the property")
    }

    private func place(of key: String) -> String {
        if case .file(let reading, _) = entries { "\(key) in \(reading.path)" } else { key }
    }

    /// The accepted form of the values.
    private var form: ValueForm {
        if case .file(let reading, _) = entries { reading.format.form } else { .exact }
    }

    private static func checked(
        _ value: StoredValue, _ key: String, _ property: (any DeclaredProperty)?, as form: ValueForm
    ) -> Result<StoredValue, PropertyListFailure> {
        guard let property else { return .success(value) }
        guard form != .exact else {
            return property.error(of: value, forKey: key)?.failures.first.map(Result.failure) ?? .success(value)
        }
        do throws(PrefsError) {
            return .success(try property.canonical(value, forKey: key, from: form))
        } catch {
            return .failure(error.failures.first ?? .init(path: key, topLevelKey: key, reason: "\(error)"))
        }
    }
}
