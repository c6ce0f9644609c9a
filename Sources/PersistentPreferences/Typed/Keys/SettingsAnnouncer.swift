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

    /// - Parameter report: told why changes are not heard.
    func access(_ key: String, of values: AppSettingsValues, _ report: (PrefsError) -> Void) {
        guard TrackingProbe.isTracked(values, registrar, Self.probe) else { return }
        if lock.withLock({ followings.index(forKey: key) == nil }) { follow(key, of: values, report) }
        registrar.access(values, keyPath: \.[observed: key])
    }

    private func follow(_ key: String, of values: AppSettingsValues, _ report: (PrefsError) -> Void) {
        do {
            let new = try entries.follow(key, Listener(key, entries, values))
            // Another thread may have been quicker.
            let isFirst = lock.withLock {
                guard followings.index(forKey: key) == nil else { return false }
                followings[key] = .some(new)
                return true
            }
            guard isFirst else { return _ = new?.end() }
            if let failure = new?.seat.failure { report(.notWatched(failure)) }
        } catch {
            // It may be followed at the next read.
            report(PrefsError(error))
        }
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
