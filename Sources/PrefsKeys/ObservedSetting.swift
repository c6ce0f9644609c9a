import Dispatch
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The value of a key or of a setting, for its observers. `PrefHandle+Observation` does the same for a property.
///
/// Unchecked because the reader may use key paths and codings, which are not Sendable; it only reads.
struct ObservedSetting<Value>: @unchecked Sendable {
    /// The key whose changes are reported.
    let key: String
    let entries: KeyedEntries
    /// Reads the value from the entries.
    let read: (KeyedEntries) -> Value
    let report: (PrefsError) -> Void

    func onChange(
        on queue: DispatchQueue?, _ action: @escaping @Sendable (_ old: Value, _ new: Value) -> Void
    ) -> PrefsObservation {
        let mailbox = Mailbox<(old: Value, new: Value)>(
            on: queue, demand: Mailbox<Value>.unlimited, values
        ) { change in
            action(change.old, change.new)
            return 0
        }
        guard let subscription = subscribe(mailbox.receive) else { return PrefsObservation {} }
        mailbox.begin(subscription)
        return PrefsObservation { mailbox.end() }
    }

    var updates: PrefUpdates<Value> {
        PrefUpdates {
            let stream = ChangeStream { values(of: $0)?.new }
            if let subscription = subscribe(stream.receive) {
                stream.begin(subscription, with: value(in: subscription.start))
            } else {
                stream.end()
            }
            return stream
        }
    }

    /// The values before and after a change; nil if they are equal.
    private func values(of change: PendingChange) -> (old: Value, new: Value)? {
        guard let whole = change.whole else { return nil }
        let (old, new) = (value(in: whole.before), value(in: whole.after))
        return EqualValues.areEqual(old, new) ? nil : (old, new)
    }

    private func value(in state: EntryState) -> Value { read(entries.with(key, at: state)) }

    /// - Returns: nil if nothing can be observed; the reason is reported.
    private func subscribe(_ receive: @escaping PendingChangeReceiver) -> EntrySubscription? {
        do {
            try NameVetting.checkRoot(key)
            let subscriber = SettingSubscriber(key, entries, receive)
            guard let subscription = try entries.subscribe(to: key, subscriber) else {
                let reason = "only UserDefaults.standard reports its changes"
                throw PrefsError.notWatched(StorageFailure(path: "", reason: reason))
            }
            if let failure = subscription.failure { report(.notWatched(failure)) }
            return subscription
        } catch {
            report(PrefsError(error))
            return nil
        }
    }
}

/// Receives the changes of one key. The feed keeps it, so it must not keep its owner.
final class SettingSubscriber: EntrySubscriber {
    private let key: String
    private let entries: KeyedEntries
    private let receiver: PendingChangeReceiver

    init(_ key: String, _ entries: KeyedEntries, _ receiver: @escaping PendingChangeReceiver) {
        self.key = key
        self.entries = entries
        self.receiver = receiver
    }

    func receive(_ change: EntryChange) -> (@Sendable () -> Void)? {
        entries.concerns(key, change) ? receiver(PendingChange(change, root: key, keepsWhole: true)) : nil
    }
}

extension KeyedValue {
    func observed(in entries: KeyedEntries) -> ObservedSetting<Value> {
        ObservedSetting(key: stringKey, entries: entries, read: read, report: report)
    }
}
