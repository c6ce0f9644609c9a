@testable import EngineSupport
@testable import PrefsSupport
import PersistentPreferences
import PrefsKeys
import Testing

/// `AppSettingsValues` under the Observation framework.
@Suite struct AppSettingObservationTests {
    private struct Size: PrefKey { static let defaultValue = 12 }
    private struct Name: PrefKey { static let defaultValue = "" }

    /// Hears the first change of the size.
    private func changes(in settings: AppSettingsValues) -> Heard<Bool> {
        tracking({ _ = settings[Size.self] }, onChange: { true })
    }

    @Test func aSettingIsTrackedByItself() {
        let settings = AppSettingsValues(store: InMemoryStore(), root: "R")
        let first = changes(in: settings)
        settings[Name.self] = "unread"
        #expect(first.all == [])
        settings[Size.self] = 12
        #expect(first.all == [true])
        let again = changes(in: settings)
        settings[Size.self] = 12
        #expect(again.all == [])
        settings[Size.self] += 1
        #expect(again.all == [true])
        let last = changes(in: settings)
        settings.reset(Size.self)
        #expect(last.all == [true])
    }

    @Test func changesThroughOthersAreReported() throws {
        let store = InMemoryStore()
        let settings = AppSettingsValues(store: store, root: "R")
        let first = changes(in: settings)
        AppSettingsValues(store: store, root: "R")[Size.self] = 13
        #expect(first.all == [true])
        let more = changes(in: settings)
        try store.update(root: "R") { $0?[Size.stringKey] = 14 }
        #expect(more.all == [true] && settings[Size.self] == 14)
    }
}
