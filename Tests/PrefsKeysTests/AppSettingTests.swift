import PersistentPreferences
import PrefsKeys
import PropertyListSupport
import Testing
import TestSupport

private enum Environment: String { case development, test, production }

private struct UseDevEnvironment: PrefKey { static let defaultValue = false }

private struct EnvironmentKey: PrefKey {
    static let defaultValue = Environment.production
    static let stringKey = "environment"
}

private struct Endpoints: PrefKey { static let defaultValue: [Environment] = [] }

extension AppSettingsValues {
    fileprivate var useDevEnvironment: Bool {
        get { self[UseDevEnvironment.self] }
        set { self[UseDevEnvironment.self] = newValue }
    }

    fileprivate var environment: Environment {
        get { self[EnvironmentKey.self] }
        set { self[EnvironmentKey.self] = newValue }
    }
}

private struct Fetcher {
    @AppSetting(\.useDevEnvironment) var useDevEnvironment
    @AppSetting(\.environment) var environment

    init(_ values: AppSettingsValues) {
        _useDevEnvironment.values = values
        _environment = AppSetting(\.environment, in: values)
    }
}

/// The example of seed 001. `TypeSafeDefaultsTests` has its behavior over `UserDefaults`.
@Suite struct AppSettingTests {
    @Test func aSettingHasOneDefaultAndOneValue() throws {
        let store = InMemoryStore()
        let values = AppSettingsValues(store: store, root: "App")
        let (one, other) = (Fetcher(values), Fetcher(AppSettingsValues(store: store, root: "App")))
        #expect(!one.useDevEnvironment && one.environment == .production)
        #expect(try store.read(root: "App") == nil)
        one.useDevEnvironment = true
        other.environment = .test
        #expect(other.useDevEnvironment && one.environment == .test)
        #expect(try exactForm(store.read(root: "App") ?? [:]) == "{'UseDevEnvironment': true, 'environment': 'test'}")
        #expect(Fetcher(AppSettingsValues(store: InMemoryStore(), root: "App")).environment == .production)
    }

    @Test func aRejectedOrForeignValueIsReported() throws {
        let folder = try TemporaryFolder()
        let store = PropertyListFileStore(url: folder.file())
        let values = AppSettingsValues(store: store, root: "App")
        try store.update(root: "App") { $0 = ["environment": "moon"] }
        #expect(values.environment == .production)
        #expect(try store.read(root: "App")?["environment"] as? String == "moon")
        #expect(values.set([.test, .development], for: Endpoints.self) == nil)
        #expect(values[Endpoints.self] == [.test, .development])
        #expect(values.reset(Endpoints.self) == nil)
        #expect(values[Endpoints.self] == [])
        #expect(AppSettingsValues(store: store, root: "").set(true, for: UseDevEnvironment.self) != nil)
    }
}
