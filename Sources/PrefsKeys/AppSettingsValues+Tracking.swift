public import Observation
import PersistentPreferences
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
                    let announce: @Sendable () -> Void = { [weak values] in
                        if let values { values.bridge.announce([key], of: values) }
                    }
                    let subscriber = SettingSubscriber(key, entries) { _ in announce }
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

    /// Announces a write that no subscription announces.
    func wasWritten(_ key: String, in values: AppSettingsValues) {
        if !isSubscribed(to: key) { announce([key], of: values) }
    }
}
