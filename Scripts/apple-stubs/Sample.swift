// What programs on Apple platforms do with the package, in the manner of the seeds.

import Foundation
import RVS_PersistentPrefs
import SwiftUI

final class ScreenPrefs: RVS_PersistentPrefs, @unchecked Sendable {
    @Pref var isDark = false
    @Pref(in: 8...72) var size = 12
    @objc dynamic var volume: Int {
        get { values["volume"] as? Int ?? 0 }
        set { values["volume"] = newValue }
    }
    @objc dynamic var isShown = false

    override var keys: [String] { super.keys + ["volume"] }

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
        Toggle("Beta", isOn: $isBeta)
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

let keyPaths = [#keyPath(ScreenPrefs.volume), #keyPath(ScreenPrefs.values), #keyPath(ScreenPrefs.isShown)]
