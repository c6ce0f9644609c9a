@testable import PrefsSupport
import AppleModels
import PrefsJSON
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// Where the observed values are.
enum ObservedPlace: CaseIterable {
    case memory, binary, xml, json, simulated, simulatedFlat

    /// Those of which one kind of file is enough.
    static let kinds: [ObservedPlace] = [.memory, .binary, .simulated]

    func store(in folder: TemporaryFolder, _ watcher: Watcher = .system) -> PrefsStore {
        switch self {
        case .memory: PrefsStore.memory()
        case .simulated: PrefsStore.userDefaults(ModelDaemon(isAutomatic: true).process())
        case .simulatedFlat: PrefsStore.userDefaults(ModelDaemon(isAutomatic: true).process(), layout: .flat)
        case .binary: folder.observedStore("test.plist", WatchedSystemCalls(watcher))
        case .xml: folder.observedStore("test.xml", WatchedSystemCalls(watcher), format: .plainXML)
        case .json: folder.observedStore("test.json", WatchedSystemCalls(watcher), format: .json)
        }
    }
}

extension TemporaryFolder {
    func observedStore(
        _ name: String = "test.plist", _ system: SystemCalls = .real, format: FileFormat = .binary
    ) -> PrefsStore {
        .propertyList(url: file(name), format: format, durability: .crash, system: system)
    }

    /// Prefs with the root key "Root" on a file in the folder.
    func observedPrefs(_ name: String = "test.plist", _ system: SystemCalls = .real) -> AnyPrefs {
        AnyPrefs(observedNames, key: "Root", store: observedStore(name, system))
    }
}

final class SizePrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var size = 12
    @Pref var name: String? = nil
    override var allowedKeys: [String] { super.allowedKeys + ["free"] }
}

extension PrefsStore {
    /// Prefs in the store.
    func observedPrefs(_ key: String? = "Root") -> AnyPrefs { AnyPrefs(observedNames, key: key, store: self) }
}

/// A closure of an observer that waits inside until its gate is open.
final class Stall: Sendable {
    let gate = Gate()
    private let entries = Heard<Bool>()

    func pass() {
        entries.append(true)
        gate.pass()
    }

    /// Hears the changes of prefs, or of an integer, one after the other.
    func observer(of prefs: PersistentPrefs) -> Observer<PrefsChange> {
        Observer { tell in
            prefs.onChange {
                self.pass()
                tell($0)
            }
        }
    }

    func observer(of handle: PrefHandle<Int>) -> Observer<[Int]> {
        Observer { tell in
            handle.onChange {
                self.pass()
                tell([$0, $1])
            }
        }
    }

    /// Waits until so many calls have been inside.
    func waitInside(_ count: Int = 1) { entries.wait { $0.count >= count } }
}
