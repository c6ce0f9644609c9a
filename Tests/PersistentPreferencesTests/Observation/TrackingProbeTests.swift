@testable import PrefsSupport
import Observation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsKeys

/// The probe that detects tracked reads, and the behavior without it.
@Suite struct TrackingProbeTests {
    private let store = InMemoryStore()

    private struct Size: PrefKey { static let defaultValue = 12 }

    @Test func theProbeFindsATrackingAndNothingElse() {
        let keyPath: KeyPath<TrackingProbe.Sample, Void> = \.[probe: TrackingProbe()]
        let registrar = ObservationRegistrar()
        #expect(TrackingProbe.works)
        #expect(!TrackingProbe.isTracked(by: registrar))
        withObservationTracking {
            #expect(TrackingProbe.isTracked(by: registrar))
            #expect(TrackingProbe.findsTracking(with: keyPath))
        } onChange: {
        }
        #expect(!TrackingProbe.isTracked(by: registrar))
    }

    /// This key path is never hashed, as if the framework no longer hashed key paths.
    @Test func aProbeThatFindsNothingFailsTheTest() {
        #expect(!TrackingProbe.findsTracking(with: \.[observed: "size"]))
    }

    @Test func withoutTheProbeEveryReadIsTracked() {
        let prefs = SizePrefs(key: "Root", store: store), writer = SizePrefs(key: "Root", store: store)
        #expect(prefs.state.bridge.trustsProbe)
        prefs.state.bridge.trustsProbe = false
        _ = prefs.size
        #expect(store.isFollowed)
        let heard = tracking({ _ = prefs.size }, onChange: { prefs.size })
        writer.size = 13
        #expect(heard.all == [13])
    }

    @Test func withoutTheProbeEveryReadOfASettingIsTracked() {
        let settings = AppSettingsValues(store: store, root: "Root")
        settings.prefs(Size.self).state.bridge.trustsProbe = false
        _ = settings[Size.self]
        #expect(store.isFollowed)
        let heard = tracking({ _ = settings[Size.self] }, onChange: { settings[Size.self] })
        settings[Size.self] = 13
        #expect(heard.all == [13])
    }
}
