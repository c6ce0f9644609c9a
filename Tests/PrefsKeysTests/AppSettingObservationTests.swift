import Foundation
import Observation
import PersistentPreferences
import PrefsKeys
import Testing

/// `AppSettingsValues` under the Observation framework.
@Suite struct AppSettingObservationTests {
    private struct Size: PrefKey { static let defaultValue = 12 }
    private struct Name: PrefKey { static let defaultValue = "" }

    /// Counts the first change of the values that the closure reads.
    private final class Changes: @unchecked Sendable {
        private let lock = NSLock()
        private var found = 0
        var count: Int { lock.withLock { found } }

        init(of read: () -> Void) {
            withObservationTracking(read) { self.lock.withLock { self.found += 1 } }
        }
    }

    @Test func aSettingIsTrackedByItself() {
        let settings = AppSettingsValues(store: InMemoryStore(), root: "R")
        let changes = Changes { _ = settings[Size.self] }
        settings[Name.self] = "unread"
        #expect(changes.count == 0)
        settings[Size.self] = 12
        #expect(changes.count == 1)
        let again = Changes { _ = settings[Size.self] }
        settings[Size.self] = 12
        #expect(again.count == 0)
        settings[Size.self] += 1
        #expect(again.count == 1)
        let last = Changes { _ = settings[Size.self] }
        settings.reset(Size.self)
        #expect(last.count == 1)
    }

    @Test func changesThroughOthersAreReported() throws {
        let store = InMemoryStore()
        let settings = AppSettingsValues(store: store, root: "R")
        let changes = Changes { _ = settings[Size.self] }
        AppSettingsValues(store: store, root: "R")[Size.self] = 13
        #expect(changes.count == 1)
        let more = Changes { _ = settings[Size.self] }
        try store.update(root: "R") { $0?[Size.stringKey] = 14 }
        #expect(more.count == 1)
        #expect(settings[Size.self] == 14)
    }
}
