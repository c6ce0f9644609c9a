@testable import PrefsSupport
import WriteOperations

/// The required behavior of the library in its simplest form: a dictionary of place → root → values, and the outcome of
/// each access. Uses no code of the library.
struct Model {
    typealias Content = [ModelText: ModelValue]

    struct Place {
        /// The contents; nil if the file is missing.
        var content: Content?
        var isXML: Bool
        let newFileIsXML: Bool
        /// The state that the library wrote last.
        var lastGood: (content: Content, isXML: Bool)?
        /// The bytes that have replaced a property list. The content is then the last known state.
        var damage: [UInt8]?
        var asides: [[UInt8]] = []
        /// The state that this process has read or written last.
        var known: (content: Content, isXML: Bool)?
        /// Whether something was known of the file until it was missing or empty. The next write keeps it beside the file.
        var isLost = false
        /// Counts the replacements of the file.
        var revision = 0

        /// The state that is read. For a malformed file, the newest known state, or nil.
        var state: (content: Content, isXML: Bool)? {
            guard damage != nil else { return content.map { ($0, isXML) } }
            return known ?? lastGood
        }

        /// The error of each read of a malformed file.
        var trouble: ModelError? {
            guard damage != nil else { return nil }
            return lastGood == nil ? .notOurs : .damaged(isQuarantined: false)
        }

        init(_ place: ModelPlace) {
            newFileIsXML = place == .xml
            isXML = newFileIsXML
            content = place.isFile ? nil : [:]
        }
    }

    struct Instance {
        let store: ModelStore
        let allowed: Set<String>
        var key: String
        var lastError: ModelError?
        var told: [Told] = []
        /// The faults that reads of the instance have told.
        var toldFaults: [ModelError] = []
    }

    struct Told {
        let error: ModelError
        /// Whether the library may leave it out, because it has told a read of the same fault before.
        let mayBeMissing: Bool
    }

    struct Transaction {
        let place: ModelPlace
        var content: Content?
        /// The first rejection, which rolls back the whole transaction.
        private(set) var failure: ModelError?

        mutating func fail(_ error: ModelError) {
            failure = failure ?? error
        }

        mutating func set(_ root: ModelText, _ entry: ModelValue) {
            content = content ?? [:]
            content?[root] = entry
        }
    }

    var places: [ModelPlace: Place] = [:]
    var linkTarget = ModelPlace.binary
    /// The place to which the link led at its last access.
    private var linkSeen: ModelPlace?
    /// The place to which it led before, if its state is known, and the state of the current one is not.
    private(set) var linkFormer: ModelPlace?
    var instances: [Instance] = []
    var transaction: Transaction?
    var trace: [ModelObservation] = []

    init(_ world: ModelWorld) {
        for place in ModelPlace.allCases { places[place] = Place(place) }
        for prefs in world.prefs {
            instances.append(Instance(store: prefs.store, allowed: Set(prefs.allowed), key: prefs.key))
        }
        for number in instances.indices { look(number) }
        forgetReported()
    }

    mutating func forgetReported() {
        for number in instances.indices { instances[number].told = [] }
    }

    func place(of number: Int) -> ModelPlace {
        let store = instances[number].store
        return store == .link ? linkTarget : store.place
    }

    /// Follows the link, if the instance's store is on it.
    ///
    /// - Returns: the place whose known state is read instead; nil if the place itself is read.
    mutating func arrive(_ number: Int) -> ModelPlace? {
        guard instances[number].store == .link else { return nil }
        if let seen = linkSeen, seen != linkTarget, self[seen].known != nil { linkFormer = seen }
        linkSeen = linkTarget
        let isForgotten = linkFormer.map { self[$0].known == nil } ?? false
        if linkFormer == linkTarget || self[linkTarget].damage == nil || isForgotten { linkFormer = nil }
        return linkFormer
    }

    private mutating func forgetLink() { (linkSeen, linkFormer) = (nil, nil) }

    /// The state of a place. Every place has one.
    subscript(place: ModelPlace) -> Place {
        get { places[place] ?? Place(place) }
        set { places[place] = newValue }
    }

    // MARK: - Operations

    mutating func perform(_ operation: ModelOperation) {
        switch operation {
        case .create(let number, let key, let values):
            instances[number].key = key
            (instances[number].told, instances[number].toldFaults) = ([], [])
            if values.isEmpty {
                look(number)
            } else {
                merge(number, values)
            }
        case .get(let number, let key): trace.append(.value(get(number, key)))
        case .values(let number): trace.append(.values(visible(number)))
        case .count(let number): trace.append(.count(visible(number).count))
        case .set(let number, let key, let input): set(number, key, input)
        case .copy(let number, let from, let to): set(number, to, get(number, from).map(ModelInput.plain))
        case .replace(let number, let values): replace(number, values)
        case .clear(let number): clear(number)
        case .change(let number, let steps): change(number, steps)
        case .swap(let number, let one, let other, let inValues): swap(number, one, other, inValues: inValues)
        case .update(let number, let form, let steps): update(number, isPlain: form.isOfAccesses, steps)
        case .remove(let number, let keys): remove(number, keys)
        case .deleteAll(let number): deleteAll(number)
        case .flush(let number): flush(number)
        case .move(let number, let key): move(number, to: key)
        case .reopen: reopen()
        case .foreign: break
        }
        if let number = operation.number { trace.append(.lastError(number, instances[number].lastError)) }
    }

    /// Drops all objects. Warnings that were not reported yet, and values in memory, are lost.
    private mutating func reopen() {
        forgetLink()
        for place in ModelPlace.allCases {
            if place.isFile {
                (self[place].known, self[place].isLost) = (nil, false)
            } else {
                self[place] = Place(place)
            }
        }
        for number in instances.indices {
            (instances[number].told, instances[number].toldFaults) = ([], [])
            look(number)
        }
    }

    /// The first read of a new instance.
    private mutating func look(_ number: Int) {
        _ = read(number) { model, access throws(ModelError) in try model.look(&access) }
    }

    mutating func get(_ number: Int, _ key: String) -> ModelValue? {
        let isAllowed = instances[number].allowed.contains(key)
        let value: ModelValue?? = read(number) { model, access throws(ModelError) in
            guard isAllowed else { throw .incorrectKeys([key]) }
            return try model.look(&access)?[ModelText(key)]
        }
        return value ?? nil
    }

    private mutating func visible(_ number: Int) -> Content {
        read(number) { model, access throws(ModelError) in
            model.visible(number, in: try model.look(&access))
        } ?? [:]
    }

    func visible(_ number: Int, in root: Content?) -> Content {
        (root ?? [:]).filter { instances[number].allowed.contains($0.key.text) }
    }

    private mutating func flush(_ number: Int) {
        _ = read(number) { model, access throws(ModelError) in
            guard try model.look(&access) != nil else { throw .nothingStored(access.root) }
        }
    }

    private mutating func move(_ number: Int, to key: String) {
        guard Self.isLegal(key) else { return report(number, .invalidName(key)) }
        instances[number].key = key
        report(number, nil)
    }

    mutating func set(_ number: Int, _ key: String, _ input: ModelInput?) {
        let isAllowed = instances[number].allowed.contains(key)
        write(number) { model, access throws(ModelError) in
            guard isAllowed else { throw .incorrectKeys([key]) }
            let before = try model.look(&access)?[ModelText(key)].map { [ModelText(key): $0] } ?? [:]
            try model.commit(&access, Change(from: before, to: input.map { [ModelText(key): $0] } ?? [:], nil))
        }
    }

    private mutating func merge(_ number: Int, _ values: [String: ModelInput]) {
        let allowed = instances[number].allowed
        write(number) { model, access throws(ModelError) in
            let before = model.visible(number, in: try model.look(&access))
            let after = before.mapValues(ModelInput.plain).merging(Self.inputs(values)) { $1 }
            try model.commit(&access, Change(from: before, to: after, allowed))
        }
    }

    private mutating func replace(_ number: Int, _ values: [String: ModelInput]) {
        let allowed = instances[number].allowed
        write(number) { model, access throws(ModelError) in
            do throws(ModelError) {
                let before = model.visible(number, in: try model.look(&access))
                try model.commit(&access, Change(from: before, to: Self.inputs(values), allowed))
            } catch .notDictionary {
                // The values replace such a root.
                let change = try Change(from: [:], to: Self.inputs(values), allowed)
                try model.transact(&access, replacesOther: true) { _, root in
                    change.apply(to: &root)
                    root = root ?? [:]
                }
            }
        }
    }

    private mutating func clear(_ number: Int) {
        let allowed = instances[number].allowed
        write(number) { model, access throws(ModelError) in
            let root = try model.look(&access)
            let others = root?.filter { !allowed.contains($0.key.text) }
            guard let others, others.isEmpty || !model.visible(number, in: root).isEmpty else {
                return try model.commit(&access, Change(from: [:], to: [:]))
            }
            try model.transact(&access) { _, root in
                root = root?.filter { !allowed.contains($0.key.text) }
                if root?.isEmpty == true { root = nil }
            }
        }
    }

    private mutating func deleteAll(_ number: Int) {
        write(number) { model, access throws(ModelError) in
            do throws(ModelError) {
                guard try model.look(&access) != nil else {
                    return try model.commit(&access, Change(from: [:], to: [:]))
                }
            } catch .notDictionary {
                // Such a root can be removed.
            }
            try model.transact(&access, isExplicit: true) { _, root in root = nil }
        }
    }

    private mutating func remove(_ number: Int, _ keys: [String]) {
        let unknown = Set(keys).subtracting(instances[number].allowed)
        let error = write(number) { model, access throws(ModelError) in
            guard unknown.isEmpty else { throw .incorrectKeys(unknown.sorted()) }
            let before = (try model.look(&access) ?? [:]).filter { keys.contains($0.key.text) }
            try model.commit(&access, Change(from: before, to: [:]))
        }
        trace.append(.returned(error))
    }

    private mutating func update(_ number: Int, isPlain: Bool, _ steps: [ModelStep]) {
        let allowed = instances[number].allowed
        var hasThrown = false
        let error = write(number) { model, access throws(ModelError) in
            let name = access.root
            try model.transact(&access) { model, root throws(ModelError) in
                let before = model.visible(number, in: root)
                guard let after = model.run(steps, on: before) else {
                    hasThrown = true
                    throw .stopped
                }
                if isPlain { return }
                // Applied to the root after the steps, which may have removed it.
                let change = try Change(from: before, to: after, allowed)
                if !change.isEmpty { try model.change(name) { _, now in change.apply(to: &now) } }
            }
        }
        trace.append(hasThrown ? .threw : .returned(error))
    }

    /// The dictionary of the body after the steps; nil if they throw.
    mutating func run(_ steps: [ModelStep], on before: Content) -> [ModelText: ModelInput]? {
        var after = before.mapValues(ModelInput.plain)
        for step in steps {
            switch step {
            case .assign(let key, let input): after[ModelText(key)] = input
            case .operation(let operation): perform(operation)
            case .stop: return nil
            }
        }
        return after
    }

    private static func inputs(_ values: [String: ModelInput]) -> [ModelText: ModelInput] {
        Dictionary(uniqueKeysWithValues: values.map { (ModelText($0.key), $0.value) })
    }
}
