// What programs on Apple platforms do with the package, in the manner of the seeds.

import Combine
import Foundation
import PrefsKeys
import PrefsUI
import RVS_PersistentPrefs
import SwiftUI

final class ScreenPrefs: RVS_PersistentPrefs, @unchecked Sendable {
    @Pref var isDark = false
    @Pref(.in(8...72)) var size = 12
    @objc dynamic var volume: Int {
        get { values["volume"] as? Int ?? 0 }
        set { values["volume"] = newValue }
    }
    @objc dynamic var isShown = false

    override var allowedKeys: [String] { super.allowedKeys + ["volume"] }

    override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
        key == "volume" ? true : super.automaticallyNotifiesObservers(forKey: key)
    }
}

struct ScreenView: View {
    @Bindable var prefs: ScreenPrefs
    @State private var ownPrefs = ScreenPrefs()
    @AppSetting(\.isBeta) private var isBeta

    var body: some View {
        Toggle("Dark", isOn: $prefs.isDark)
        Stepper("Size", value: prefs.$size.binding)
        Stepper("Volume", value: $prefs.volume)
        Toggle("Dark, too", isOn: $ownPrefs.isDark)
        Toggle("Beta", isOn: $isBeta.binding)
    }
}

struct IsBeta: PrefKey {
    static let defaultValue = false
}

extension AppSettingsValues {
    var isBeta: Bool {
        get { self[IsBeta.self] }
        set { self[IsBeta.self] = newValue }
    }
}

func observe(_ prefs: ScreenPrefs) -> [NSKeyValueObservation] {
    [
        prefs.observe(\.volume) { prefs, change in print(prefs.volume, change.newValue ?? 0) },
        prefs.observe(\.values) { _, change in print(change.newValue ?? [:]) },
    ]
}

@MainActor final class ScreenModel {
    var size = 0
    private var cancellables: Set<AnyCancellable> = []

    init(_ prefs: ScreenPrefs) {
        prefs.$size.publisher.sink { print($0) }.store(in: &cancellables)
        prefs.publisher(of: "volume", "size").sink { print($0.newValues) }.store(in: &cancellables)
        let all: AnyPublisher<PrefsChange, Never> = prefs.publisher()
        all.subscribe(ChangeCounter())
    }
}

/// A subscriber that demands one change after another.
final class ChangeCounter: Subscriber {
    typealias Input = PrefsChange
    typealias Failure = Never
    private var count = 0

    func receive(subscription: any Subscription) { subscription.request(.max(1)) }
    func receive(_ change: PrefsChange) -> Subscribers.Demand {
        count += change.count
        return .max(1)
    }
    func receive(completion: Subscribers.Completion<Never>) {}
}

let keyPaths = [#keyPath(ScreenPrefs.volume), #keyPath(ScreenPrefs.values), #keyPath(ScreenPrefs.isShown)]
