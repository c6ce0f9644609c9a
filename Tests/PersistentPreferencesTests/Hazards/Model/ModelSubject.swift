@testable import PrefsSupport
import Foundation
import TestSupport
import WriteOperations

@testable import EngineSupport
@testable import PersistentPreferences

/// Runs the operations of the model with the library, on stores in its own folder.
final class ModelSubject {
    /// A subclass that records every error that it receives.
    final class Prefs: PersistentPrefs, @unchecked Sendable {
        private let names: [String]
        private let errors = Locked<[ModelError]>([])

        init(_ names: [String], key: String, values: [String: Any]?, store: PrefsStore) {
            self.names = names
            super.init(key: key, values: values, store: store)
        }

        override var allowedKeys: [String] { names }

        override func prefsDidFail(_ error: PrefsError) { errors.withLock { $0.append(ModelError(error)) } }

        func takeReported() -> [ModelError] {
            errors.withLock { errors in
                defer { errors = [] }
                return errors
            }
        }
    }

    let folder: TemporaryFolder
    var trace: [ModelObservation] = []
    /// Bytes that have replaced files, which Foundation's parser should not read.
    var damages: [ModelPlace: Data] = [:]

    private let world: ModelWorld
    /// Makes no flushes and no pauses, because there are no power cuts and no other writers here.
    private let system = RecordingSystemCalls()
    private var stores: [ModelStore: PrefsStore] = [:]
    private var instances: [Prefs] = []

    init(_ world: ModelWorld) throws {
        folder = try TemporaryFolder()
        self.world = world
        (system.flushes, system.isClockAhead) = (false, world.isClockAhead)
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link.plist").path, withDestinationPath: ModelPlace.binary.fileName)
        open(keys: world.prefs.map(\.key))
        for prefs in instances { _ = prefs.takeReported() }
    }

    private func open(keys: [String]) {
        for kind in ModelStore.allCases { stores[kind] = makeStore(kind) }
        for (number, key) in keys.enumerated() { instances.append(makePrefs(number, key: key, values: nil)) }
    }

    private func makeStore(_ kind: ModelStore) -> PrefsStore {
        switch kind {
        case .memory: PrefsStore.memory()
        case .foreign: ForeignBackend().store
        default:
            PrefsStore.propertyList(
                url: folder.file(kind == .link ? "link.plist" : kind.place.fileName),
                format: kind == .xml ? .plainXML : .binary,
                durability: [.hasty, .process].contains(kind) ? .crash : .powerCut, system: system)
        }
    }

    private func makePrefs(_ number: Int, key: String, values: [String: Any]?) -> Prefs {
        guard let store = stores[world.prefs[number].store] else { preconditionFailure("a store for each kind") }
        return Prefs(world.prefs[number].allowed, key: key, values: values, store: store)
    }

    private func reopen() {
        let keys = instances.map(\.key)
        instances = []
        stores = [:]
        open(keys: keys)
    }

    /// Returns the errors that each instance has received since the last call.
    func takeReported() -> [[ModelError]] {
        instances.map { $0.takeReported() }
    }

    // MARK: - Operations

    func perform(_ operation: ModelOperation) {
        var mutables: [NSObject] = []
        switch operation {
        case .create(let number, let key, let values):
            let objects = values.mapValues { $0.object(&mutables) }
            instances[number] = makePrefs(number, key: key, values: values.isEmpty ? nil : objects)
        case .get(let number, let key):
            let value = instances[number][key]
            observe { .value(try value.map { try ModelValue($0, isStrict: true) }) }
        case .values(let number): observe { .values(try ModelValue.entries(instances[number].values, isStrict: true)) }
        case .count(let number): trace.append(.count(instances[number].visibleCount()))
        case .set(let number, let key, let input): instances[number][key] = input?.object(&mutables)
        case .copy(let number, let from, let to): instances[number][to] = instances[number][from]
        case .replace(let number, let values):
            instances[number].values = values.mapValues { $0.object(&mutables) }
        case .change(let number, let steps):
            let prefs = instances[number]
            observeThrow { try run(steps, on: &prefs.values, &mutables) }
        case .swap(let number, let one, let other, inValues: true):
            let prefs = instances[number]
            swap(&prefs.values[one], &prefs.values[other])
        case .swap(let number, let one, let other, inValues: false):
            let prefs = instances[number]
            swap(&prefs[one], &prefs[other])
        case .update(let number, let form, let steps): update(instances[number], form, steps, &mutables)
        case .remove(let number, let keys):
            let prefs = instances[number]
            let error = keys.count == 2 ? prefs.reset(keys[0], keys[1]) : prefs.reset(keys[0])
            trace.append(.returned(error.map(ModelError.init)))
        case .clear(let number): instances[number].resetAll()
        case .deleteAll(let number): instances[number].deleteRoot()
        case .flush(let number): instances[number].reload()
        case .move(let number, let key): instances[number].key = key
        case .reopen: reopen()
        case .foreign: break
        }
        ModelInput.spoil(mutables)
        if let number = operation.number {
            trace.append(.lastError(number, instances[number].lastError.map(ModelError.init)))
        }
    }

    private func update(
        _ prefs: Prefs, _ form: WriteOperation, _ steps: [ModelStep], _ mutables: inout [NSObject]
    ) {
        observeThrow {
            var unused: [String: Any] = [:]
            let error: PrefsError? =
                switch form {
                case .update: try prefs.update { () -> Void in try run(steps, on: &unused, &mutables) }.failure
                case .dictionaryUpdate:
                    try prefs.update { (values: inout [String: Any]) -> Void in
                        try run(steps, on: &values, &mutables)
                    }.failure
                case .returningUpdate:
                    try prefs.update { () -> Int in
                        try run(steps, on: &unused, &mutables)
                        return 7
                    }.failure
                default:
                    try prefs.update { (values: inout [String: Any]) -> Int in
                        try run(steps, on: &values, &mutables)
                        return 7
                    }.failure
                }
            trace.append(.returned(error.map(ModelError.init)))
        }
    }

    private func run(_ steps: [ModelStep], on values: inout [String: Any], _ mutables: inout [NSObject]) throws {
        for step in steps {
            switch step {
            case .assign(let key, let input): values[key] = input?.object(&mutables)
            case .operation(let operation): perform(operation)
            case .stop: throw Stop()
            }
        }
    }

    private func observe(_ observation: () throws -> ModelObservation) {
        do {
            trace.append(try observation())
        } catch {
            trace.append(.trouble("\(error)"))
        }
    }

    private func observeThrow(_ body: () throws -> Void) {
        do {
            try body()
        } catch is Stop {
            trace.append(.threw)
        } catch {
            trace.append(.trouble("\(error)"))
        }
    }
}
