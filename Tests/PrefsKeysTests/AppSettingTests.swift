@testable import EngineSupport
@testable import PrefsSupport
import Foundation
import PrefsLayers
import PrefsStoreKit
import Testing

@testable import PersistentPreferences
@testable import PrefsKeys

private enum Shade: String { case light, dark }
private enum Level: Int, Codable { case low, high }
private enum Shape: Codable, Equatable {
    case point
    case circle(radius: Double)
}
private struct Margin: Codable, Equatable { var left = 0 }
private struct Styles: OptionSet, Codable {
    let rawValue: Int
    static let bold = Styles(rawValue: 1)
}
private struct Plain: Equatable { var text = "" }
private let plainCoding = PrefCoding<Plain>(encode: { $0.text }, decode: { ($0 as? String).map { Plain(text: $0) } })

extension Failures {
    fileprivate func add(_ error: PrefsError) { add("\(error)") }
}

/// Each form and each kind of value. Each wrapper is replaced by a wrapper over the test's container.
private struct Player {
    @AppSetting("volume") var volume = 0.5
    @AppSetting("token") var token: String?
    @AppSetting("theme") var theme = Shade.light
    @AppSetting("other theme") var otherTheme: Shade?
    @AppSetting("themes") var themes: [Shade] = []
    @AppSetting("some themes") var someThemes: [String: Shade]?
    @AppSetting("level") var level = Level.low
    @AppSetting("other level") var otherLevel: Level?
    @AppSetting("levels") var levels: [Level] = []
    @AppSetting("shape") var shape = Shape.point
    @AppSetting("margin") var margin = Margin()
    @AppSetting("other margin") var otherMargin: Margin?
    @AppSetting("styles") var styles: Styles = []
    @AppSetting("anything") var anything: [String: Any] = [:]
    @AppSetting("some things") var someThings: [Any]?
    @AppSetting("plain", coding: plainCoding) var plain = Plain()
    @AppSetting("deep") var deep: Level??

    init(_ values: AppSettingsValues) {
        (_volume.values, _token.values, _theme.values, _otherTheme.values) = (values, values, values, values)
        (_themes.values, _someThemes.values, _level.values, _otherLevel.values) = (values, values, values, values)
        (_levels.values, _shape.values, _margin.values, _otherMargin.values) = (values, values, values, values)
        (_styles.values, _anything.values, _someThings.values, _plain.values) = (values, values, values, values)
        _deep.values = values
    }
}

private final class Desk {
    @AppSetting("volume") var volume = 0.25
    init(_ values: AppSettingsValues) { _volume.values = values }
}

private actor Mixer {
    @AppSetting("volume") var volume = 0.75
    init(_ values: AppSettingsValues) { _volume.values = values }
    func louder() -> Double {
        volume += 1
        return volume
    }
}

@MainActor private enum Shared {
    static let store = PrefsStore.memory()
    @AppSetting("volume", store: store) static var volume = 0.5
}

/// The wrappers of seed 001 with a text key, with and without a default at the point of use. `KeyObservationTests` has those
/// with a key path, and `TypeSafeDefaultsTests` their behavior over `UserDefaults`.
@Suite struct AppSettingTests {
    private let folder = TemporaryFolder.fresh
    private let memory = PrefsStore.memory()
    private var store: PrefsStore { .propertyList(url: folder.file()) }

    private func stored() throws -> String { try text(propertyList(at: folder.file())) }

    /// The exact form without the bits of real numbers.
    private func text(_ object: Any) -> String {
        exactForm(object).replacing(/\ \([0-9a-f]{16}\)/, with: "")
    }

    @Test func everyKindOfValueHasItsDefaultAndIsStored() throws {
        let values = AppSettingsValues(store: memory, root: "Test")
        let (one, other) = (Player(values), Player(values))
        #expect(one.volume == 0.5 && one.token == nil && one.theme == .light && one.otherTheme == nil)
        #expect(one.themes.isEmpty && one.someThemes == nil && one.level == .low && one.otherLevel == nil)
        #expect(one.levels.isEmpty && one.shape == .point && one.margin == Margin() && one.otherMargin == nil)
        #expect(one.styles == [] && one.anything.isEmpty && one.someThings == nil && one.plain == Plain())
        #expect(try memory.read(root: "Test") == nil, "a read stores nothing")
        one.volume += 0.25
        one.token = "t"
        (one.theme, one.otherTheme, one.themes, one.someThemes) = (.dark, .dark, [.dark], ["a": .light])
        (one.level, one.otherLevel, one.levels) = (.high, .high, [.low, .high])
        (one.shape, one.margin.left, one.otherMargin) = (.circle(radius: 2), 3, Margin(left: 4))
        (one.styles, one.anything, one.someThings, one.plain) = ([.bold], ["k": 1], [1, "x"], Plain(text: "p"))
        one.deep = .some(nil)
        #expect(other.volume == 0.75 && other.token == "t" && other.theme == .dark && other.shape == .circle(radius: 2))
        let expected = """
            {'anything': {'k': 1}, 'deep': '$null', 'level': 1, 'levels': [0, 1], 'margin': {'left': 3}, \
            'other level': 1, 'other margin': {'left': 4}, 'other theme': 'dark', 'plain': 'p', \
            'shape': {'circle': {'radius': 2.0}}, 'some themes': {'a': 'light'}, 'some things': [1, 'x'], 'styles': 1, \
            'theme': 'dark', 'themes': ['dark'], 'token': 't', 'volume': 0.75}
            """
        #expect(try text(memory.read(root: "Test") ?? [:]) == expected)
        other.token = nil
        #expect(one.token == nil)
        #expect(try memory.read(root: "Test")?["token"] == nil)
    }

    /// In one place after another, and back.
    @Test func aSettingIsWhereItsValuesAre() {
        struct View {
            @AppSetting("size", store: .memory()) var size = 12

            mutating func move(to values: AppSettingsValues) { _size.values = values }
        }
        var view = View()
        view.size = 1
        let places = ["One", "Other"].map { AppSettingsValues(store: memory, root: $0) }
        for (number, place) in places.enumerated() {
            view.move(to: place)
            #expect(view.size == 12)
            view.size = number
        }
        for (number, place) in places.enumerated().reversed() {
            view.move(to: place)
            #expect(view.size == number)
        }
    }

    @Test func aKeyOfALayeredStoreIsBetweenItsLayers() throws {
        let base = PrefsStore.memory()
        let layered = PrefsStore.layered(
            base, above: [.environment(prefix: "APP_", in: ["APP_size": "7"])], below: [.values(["name": "below"])])
        @AppSetting("size", store: layered) var size = 12
        @AppSetting("name", store: layered) var name = "none"
        @AppSetting("free", store: layered) var free = 0
        #expect(size == 7 && name == "below" && free == 0)
        #expect($size.set(8) != nil && size == 7)
        (name, free) = ("stored", 1)
        #expect(name == "stored" && free == 1)
        #expect(try base.read(root: "AppSettings") as NSDictionary? == ["name": "stored", "free": 1])
    }

    /// The forms of document 001: the key as an argument, with a default or as an optional.
    @Test func theKeyMayBeAnArgument() throws {
        struct Root {
            @AppSetting(key: "shown") var shown: Bool?
            @AppSetting(key: "theme") var theme: Shade?
            @AppSetting(key: "volume", defaultValue: 0.5) var volume: Double
            @AppSetting(key: "name", defaultValue: nil) var name: String?

            init(_ values: AppSettingsValues) {
                (_shown.values, _theme.values, _volume.values, _name.values) = (values, values, values, values)
            }
        }
        let memory = PrefsStore.memory()
        let root = Root(AppSettingsValues(store: memory, root: "Test"))
        #expect(root.shown == nil && root.theme == nil && root.volume == 0.5 && root.name == nil)
        (root.shown, root.theme, root.volume, root.name) = (true, .dark, 1, "n")
        #expect(root.shown == true && root.theme == .dark)
        #expect(
            try text(memory.read(root: "Test") ?? [:])
                == "{'name': 'n', 'shown': true, 'theme': 'dark', 'volume': 1.0}")
    }

    @Test func anyTypeMayHaveOne() async {
        let values = AppSettingsValues(store: .memory(), root: "Test")
        let (model, mixer) = (Desk(values), Mixer(values))
        #expect(model.volume == 0.25, "each has its own default")
        model.volume = 2
        #expect(await mixer.louder() == 3)
        #expect(model.volume == 3)
        await MainActor.run {
            Shared.volume += 1
            #expect(Shared.volume == 1.5 && Shared.$volume.wrappedValue == 1.5)
        }
        @AppSetting("volume", store: store) var local = 1.0
        local += 1
        #expect(local == 2)
    }

    /// Holds for every layout of the store.
    @Test(arguments: [DomainLayout.roots, .flat])
    func theKeyIsAnEntryOfTheStore(_ layout: DomainLayout) throws {
        try writePropertyList(["volume": 7, "other": true], to: folder.file(), as: .xml)
        let store = PrefsStore.propertyList(url: folder.file(), layout: layout)
        @AppSetting("volume", store: store) var volume = 0.5
        @AppSetting("token", store: store) var token: String?
        #expect(volume == 7 && token == nil)
        volume += 1
        token = "t"
        #expect(try stored() == "{'other': true, 'token': 't', 'volume': 8.0}")
        #expect($volume.set(9) == nil && volume == 9)
    }

    @Test func aStoreFromOutsideKeepsItInARoot() throws {
        let store = ForeignBackend().store
        @AppSetting("volume", store: store) var volume = 0.5
        volume = 2
        #expect(try text(store.read(root: "AppSettings") ?? [:]) == "{'volume': 2.0}")
    }

    @Test func aBadKeyIsRejectedWithAReason() throws {
        let errors = Failures()
        let observed = Observed("a\0", store, errors)
        #expect(observed.volume == 0.5 && errors.all.count == 1 && errors.all[0].contains("it contains a NUL"))
        observed.volume += 1
        #expect(errors.all.count == 2, "a change in place fails once")
        #expect(observed.$volume.set(2) != nil && errors.all.count == 3)
        #expect(try folder.names().isEmpty)
    }

    /// A type, because the compiler changes a local variable in place by its getter and its setter.
    private struct Observed {
        @AppSetting var volume: Double
        @AppSetting var theme: Shade

        init(_ key: String, _ store: PrefsStore, _ errors: Failures) {
            _volume = AppSetting(wrappedValue: 0.5, key, store: store, didFail: errors.add)
            _theme = AppSetting(wrappedValue: .light, "theme", store: store, didFail: errors.add)
        }
    }

    @Test func aStoredValueThatDoesNotFitIsKept() throws {
        try writePropertyList(["volume": "loud", "theme": "pink"], to: folder.file(), as: .xml)
        let errors = Failures()
        let observed = Observed("volume", store, errors)
        #expect(observed.volume == 0.5 && observed.theme == .light)
        observed.volume += 1
        #expect(observed.$volume.modify { $0 += 1 } != nil)
        let mismatch = "volume: expected Double, found a string"
        #expect(errors.all == [mismatch, "theme: expected Shade, found an unknown raw value", mismatch, mismatch])
        #expect(try stored() == "{'theme': 'pink', 'volume': 'loud'}")
        observed.theme = .light
        #expect(observed.$theme.modify { $0 = .dark } == nil && observed.theme == .dark && errors.all.count == 4)
    }

    @Test func aValueThatCannotBeStoredIsNamedAndChangesNothing() throws {
        let errors = Failures()
        @AppSetting("anything", store: store, didFail: errors.add) var anything: [String: Any] = [:]
        @AppSetting("list", store: store, didFail: errors.add) var list: [Any]? = nil
        anything = ["good": 1]
        #expect(errors.all.isEmpty)
        anything = ["a": UUID(), "b": ["c": NSNull()]]
        list = [1, Plain(), NSNull()]
        let places = ["anything.a: ", "anything.b.c: ", "list[1]: ", "list[2]: "]
        try #require(errors.all.count == 2)
        for (place, error) in zip([0, 0, 1, 1], places) {
            #expect(errors.all[place].contains(error), "\(errors.all)")
        }
        #expect(errors.all.allSatisfy { $0.contains("cannot be stored in a property list") })
        #expect(try text(store.read(root: "anything") ?? [:]) == "{'good': 1}")
    }

    @Test func aChangeIsObserved() {
        @AppSetting("volume", store: store) var volume = 0.5
        let heard = tracking({ _ = volume }, onChange: { true })
        AppSettingsValues(entriesOf: store)[Other.self] = 1
        #expect(heard.all == [])
        volume = 0.75
        #expect(heard.all == [true])
    }

    private struct Other: PrefKey { static let defaultValue = 0 }
}
