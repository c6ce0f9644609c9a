@testable import PrefsSupport
import Foundation
import PrefsStoreKit
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsKeys
@testable import PrefsLayers

private struct VolumeKey: PrefKey { static let defaultValue = 0.5 }
private struct CountKey: PrefKey { static let defaultValue = 1 }

extension AppSettingsValues {
    fileprivate var volume: Double {
        get { self[VolumeKey.self] }
        set { self[VolumeKey.self] = newValue }
    }

    /// Reads two keys.
    fileprivate var total: Int {
        get { percent + self[CountKey.self] }
        set { self[CountKey.self] = newValue - percent }
    }

    /// Reads a key and computes a value from it.
    fileprivate var percent: Int {
        get { Int((volume * 100).rounded()) }
        set { volume = Double(newValue) / 100 }
    }
}

/// Keys and settings notify their observers of changes, with the values before and after.
@Suite(.limited) struct KeyObservationTests {
    private let folder = TemporaryFolder.fresh

    private func store(_ layout: DomainLayout = .roots) -> PrefsStore {
        .propertyList(url: folder.file(), durability: .crash, layout: layout)
    }

    private struct Player {
        @AppSetting(\.volume) var volume
        @AppSetting(\.percent) var percent
        @AppSetting("theme") var theme = "light"
        @AppSetting(key: "size", defaultValue: 12) var size: Int

        init(_ values: AppSettingsValues) {
            (_volume.values, _percent.values, _theme.values, _size.values) = (values, values, values, values)
        }
    }

    @Test func aSettingOfTwoKeysIsObservedByTheFirst() throws {
        let values = AppSettingsValues(entriesOf: PrefsStore.memory())
        let observed = try #require(values.observed(\.total))
        let heard = Heard<Int>()
        let observation = observed.onChange(on: nil) { _, new in heard.append(new) }
        values.volume = 0.25
        #expect(heard.wait(for: 1) == [26])
        values[CountKey.self] = 10
        values.volume = 0.75
        #expect(heard.wait(for: 2) == [26, 85])
        observation.cancel()
    }

    enum Place: CaseIterable {
        case entries, root, flatRoot, memory, layered
    }

    private func values(_ place: Place) -> AppSettingsValues {
        switch place {
        case .entries: AppSettingsValues(entriesOf: store())
        case .root: AppSettingsValues(store: store(), root: "Root")
        case .flatRoot: AppSettingsValues(store: store(.flat), root: "Root")
        case .memory: AppSettingsValues(entriesOf: PrefsStore.memory())
        case .layered: AppSettingsValues(store: .layered(store(), below: [.values(["size": 3])]), root: "Root")
        }
    }

    @Test(arguments: Place.allCases) func changesAreHeardWithBothValues(_ place: Place) throws {
        let player = Player(values(place))
        let heard = Heard<String>()
        let observations = [
            player.$volume.onChange { heard.append("volume \($0) \($1)") },
            player.$percent.onChange { heard.append("percent \($0) \($1)") },
            player.$theme.onChange { heard.append("theme \($0) \($1)") },
            player.$size.onChange { heard.append("size \($0) \($1)") },
        ]
        player.volume = 0.75
        #expect(heard.wait(for: 2).sorted() == ["percent 50 75", "volume 0.5 0.75"])
        player.theme = "dark"
        #expect(heard.wait(for: 3).last == "theme light dark")
        let first = place == .layered ? 3 : 12
        player.size += 1
        #expect(heard.wait(for: 4).last == "size \(first) \(first + 1)")
        // Equal values are no change.
        player.size += 0
        observations[2].cancel()
        player.theme = "red"
        player.percent = 10
        #expect(heard.wait(for: 6).suffix(2).sorted() == ["percent 75 10", "volume 0.75 0.1"])
        observations.forEach { $0.cancel() }
    }

    @Test func valuesAreASequence() async throws {
        let player = Player(values(.entries))
        var sizes = player.$size.updates.makeAsyncIterator()
        var percents = player.$percent.updates.makeAsyncIterator()
        #expect(await sizes.next() == 12)
        #expect(await percents.next() == 50)
        player.size = 13
        player.percent = 60
        #expect(await sizes.next() == 13)
        #expect(await percents.next() == 60)
    }

    /// Changes as by another process.
    @Test func changesOfOthersAreHeard() throws {
        let player = Player(values(.entries))
        let heard = Observer<String> { tell in player.$size.onChange { tell("\($0) \($1)") } }
        try writePropertyList(["size": 20], to: folder.file())
        #expect(heard.wait(for: 1) == ["12 20"])
    }

    private struct watched: PrefKey {
        static let defaultValue = 1
        static let told = Heard<String>()
        static func didFail(_ error: PrefsError) { told.append("\(error)") }
    }

    /// Changes of a UserDefaults object cannot be observed. That is reported, and the key works.
    @Test func anObjectOfTheCallersIsNotWatched() throws {
        let defaults = try #require(UserDefaults(suiteName: "KeyObservationTests"))
        let observation = watched.onChange(in: defaults) { _, _ in }
        #expect(
            watched.told.wait(for: 1) == [
                "only UserDefaults.standard reports its changes; changes made elsewhere are not reported"
            ])
        observation.cancel()
    }

    /// As those of a property that cannot be observed.
    @Test func theValuesOfWhatIsNotWatchedEnd() async throws {
        let defaults = try #require(UserDefaults(suiteName: "KeyObservationTests"))
        let player = Player(AppSettingsValues(container: defaults))
        #expect(await player.$percent.updates.reduce(into: 0) { sum, _ in sum += 1 } == 0)
        #expect(await player.$size.updates.reduce(into: 0) { sum, _ in sum += 1 } == 0)
    }

    @Test func modifiesOfManyThreadsAllCount() throws {
        let player = Player(values(.entries))
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<25 {
                player.$size.modify { $0 += 1 }
                player.$percent.modify { $0 += 1 }
            }
        }
        #expect(player.size == 212 && player.percent == 250)
        #expect(throws: Stop.self) {
            try player.$size.modify {
                $0 = 0
                throw Stop()
            }
        }
        #expect(throws: Stop.self) {
            try player.$volume.modify {
                $0 = 0
                throw Stop()
            }
        }
        #expect(player.size == 212 && player.percent == 250)
    }

    /// A setting has a type, so it reads text, and is rejected where a layer hides it.
    @Test func aSettingReadsTheTextOfALayer() throws {
        let layered = PrefsStore.layered(store(), above: [.environment(prefix: "APP_", in: ["APP_size": "7"])])
        let player = Player(AppSettingsValues(store: layered, root: "Root"))
        #expect(player.size == 7)
        #expect(player.$size.set(8)?.description.contains("size") == true && player.size == 7)
        #expect(player.$size.set(7) == nil && player.theme == "light")
        player.theme = "dark"
        #expect(try store().read(root: "Root") as? [String: String] == ["theme": "dark"])
    }

    /// The file of a layer above is edited: each key in it has a new value, although the base has not changed.
    @Test(arguments: [true, false]) func aChangeOfALayerIsReported(_ isAbove: Bool) throws {
        let layer = folder.file("layer.plist")
        try writePropertyList(["Root": ["size": 3]], to: layer)
        let layered = PrefsStore.layered(
            store(), above: isAbove ? [.file(layer)] : [], below: isAbove ? [] : [.file(layer)])
        let player = Player(AppSettingsValues(store: layered, root: "Root"))
        let heard = Observer<String> { tell in player.$size.onChange { tell("\($0) \($1)") } }
        try writePropertyList(["Root": ["size": 4]], to: layer)
        #expect(heard.wait(for: 1) == ["3 4"])
    }

    // MARK: - The Observation framework

    private struct Size: PrefKey { static let defaultValue = 12 }
    private struct Name: PrefKey { static let defaultValue = "" }

    /// Hears the first change of the size.
    private func changes(in settings: AppSettingsValues) -> Heard<Bool> {
        tracking({ _ = settings[Size.self] }, onChange: { true })
    }

    @Test func aSettingIsTrackedByItself() {
        let settings = AppSettingsValues(store: .memory(), root: "R")
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
        let store = PrefsStore.memory()
        let settings = AppSettingsValues(store: store, root: "R")
        let first = changes(in: settings)
        AppSettingsValues(store: store, root: "R")[Size.self] = 13
        #expect(first.all == [true])
        let more = changes(in: settings)
        try store.update(root: "R") { $0?[Size.stringKey] = 14 }
        #expect(more.all == [true] && settings[Size.self] == 14)
    }
}
