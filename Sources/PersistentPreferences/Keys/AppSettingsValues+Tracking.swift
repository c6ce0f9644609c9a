public import Observation
import PrefsFileEngine
import PrefsPropertyLists

extension AppSettingsValues: Observable {}

/// The settings subscribe to each key that is read in a tracking.
extension ObservationBridge<AppSettingsValues> {
    /// - Parameter report: told why changes are not heard.
    func access(
        _ key: String, of values: AppSettingsValues, in entries: any KeyedEntries, _ report: (PrefsError) -> Void
    ) {
        access(key, of: values) {
            subscribe(to: key) {
                do {
                    guard let new = try entries.follow(key, Listener(key, entries, values)) else { return nil }
                    if let failure = new.subscriptionStart.failure { report(.notWatched(failure)) }
                    return { new.end() }
                } catch {
                    report(PrefsError(error))
                    return nil
                }
            }
        }
    }

    /// After a write: if nobody else announces it, this does.
    func wasWritten(_ key: String, in values: AppSettingsValues) {
        if !isSubscribed(to: key) { announce([key], of: values) }
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
        return { if let values = self.values { values.bridge.announce([self.key], of: values) } }
    }
}
