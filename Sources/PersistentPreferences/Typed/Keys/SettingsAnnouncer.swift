public import Observation

/// Tells the Observation framework of the changes of settings that somebody has read and kept track of.
final class SettingsAnnouncer: @unchecked Sendable {
    private let registrar = ObservationRegistrar()
    private let entries: any KeyedEntries
    private let lock = Lock()
    /// Under the lock, by key.
    private var followings: [String: (any Following)?] = [:]
    nonisolated(unsafe) private static let probe: KeyPath<AppSettingsValues, Void> = \.[probe: TrackingProbe()]

    init(_ entries: any KeyedEntries) {
        self.entries = entries
    }

    func access(_ key: String, of values: AppSettingsValues) {
        guard TrackingProbe.isTracked(values, registrar, Self.probe) else { return }
        lock.withLock {
            if followings.index(forKey: key) == nil {
                // One that cannot be followed cannot be read, and that says why.
                followings[key] = .some(try? entries.follow(key, Listener(key, entries, values)))
            }
        }
        registrar.access(values, keyPath: \.[observed: key])
    }

    /// After a write: where nobody else tells of it, this does.
    func wasWritten(_ key: String, in values: AppSettingsValues) {
        if case .some(nil) = lock.withLock({ followings[key] }) { announce(key, in: values) }
    }

    private func announce(_ key: String, in values: AppSettingsValues) {
        registrar.withMutation(of: values, keyPath: \.[observed: key]) {}
    }

    private final class Listener: EntryListener, @unchecked Sendable {
        private let key: String
        private let entries: any KeyedEntries
        private weak var values: AppSettingsValues?

        init(_ key: String, _ entries: any KeyedEntries, _ values: AppSettingsValues) {
            self.key = key
            self.entries = entries
            self.values = values
        }

        func note(_ change: EntryChange) -> (@Sendable () -> Void)? {
            guard entries.concerns(key, change) else { return nil }
            return { if let values = self.values { values.announcer.announce(self.key, in: values) } }
        }
    }
}

extension AppSettingsValues: Observable {}
