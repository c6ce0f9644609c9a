import Dispatch
public import Observation
import PrefsFileEngine
import PrefsPropertyLists

/// Tells the Observation framework of the changes of settings that somebody has read and kept track of. `UnheardChanges` says
/// which changes are announced twice.
final class SettingsAnnouncer: @unchecked Sendable {
    private let registrar = ObservationRegistrar()
    private let entries: any KeyedEntries
    private let lock = Lock()
    // Under the lock.
    /// By key.
    private var followings: [String: (any Following)?] = [:]
    private var unheard = UnheardChanges()

    /// Whether the probe decides what is tracked; if not, every read counts as tracked. Only tests assign it, before the first
    /// read.
    var trustsProbe = TrackingProbe.works

    nonisolated(unsafe) private static let probe: KeyPath<AppSettingsValues, Void> = \.[probe: TrackingProbe()]

    init(_ entries: any KeyedEntries) {
        self.entries = entries
    }

    /// - Parameter report: told why changes are not heard.
    func access(_ key: String, of values: AppSettingsValues, _ report: (PrefsError) -> Void) {
        guard !trustsProbe || TrackingProbe.isTracked(values, registrar, Self.probe) else { return }
        if lock.withLock({ followings.index(forKey: key) == nil }) { follow(key, of: values, report) }
        if UnheardChanges.isOnMainThread, lock.withLock({ unheard.begin() }) {
            DispatchQueue.main.async { [weak values] in
                if let values { values.announcer.announceUnheard(in: values) }
            }
        }
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
            if let failure = new?.subscriptionStart.failure { report(.notWatched(failure)) }
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
        // Before the announcement: if changes are no longer collected, the tracking on the main thread already listens.
        if !UnheardChanges.isOnMainThread { lock.withLock { unheard.add([key]) } }
        registrar.withMutation(of: values, keyPath: \.[observed: key]) {}
    }

    private func announceUnheard(in values: AppSettingsValues) {
        for key in lock.withLock({ unheard.take() }) {
            registrar.withMutation(of: values, keyPath: \.[observed: key]) {}
        }
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
