public import Observation
import PrefsFileEngine
import PrefsPropertyLists

extension AppSettingsValues: Observable {}

/// The settings subscribe to each key that is read in a tracking.
extension ObservationBridge<AppSettingsValues> {
    /// - Parameter report: called with the reason if changes are not received.
    func access(
        _ key: String, of values: AppSettingsValues, in entries: KeyedEntries, _ report: (PrefsError) -> Void
    ) {
        access(key, of: values) {
            subscribe(to: key) {
                do {
                    let subscriber = SettingSubscriber(key, entries) { [weak values] in
                        if let values { values.bridge.announce([key], of: values) }
                    }
                    let new = try entries.subscribe(to: key, subscriber)
                    if let failure = new?.failure { report(.notWatched(failure)) }
                    return new
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

/// Announces the changes of one key. The feed keeps it, so it does not keep the settings.
private final class SettingSubscriber: EntrySubscriber {
    private let key: String
    private let entries: KeyedEntries
    private let announce: @Sendable () -> Void

    init(_ key: String, _ entries: KeyedEntries, _ announce: @escaping @Sendable () -> Void) {
        self.key = key
        self.entries = entries
        self.announce = announce
    }

    func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
        entries.concerns(key, change) ? announce : nil
    }
}
