import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport

private class VehicleSettings: SettingsFile {
    var wheels = 4

    init() {}

    class var settingsURL: URL { SettingsPlace.file("\(self).plist") }

    func copyValues(from loaded: VehicleSettings) { wheels = loaded.wheels }
}

private final class BusSettings: VehicleSettings {
    var seats = 40

    private enum CodingKeys: String, CodingKey { case seats }

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
        seats = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .seats)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(seats, forKey: .seats)
    }

    override func copyValues(from loaded: VehicleSettings) {
        super.copyValues(from: loaded)
        if let loaded = loaded as? BusSettings { seats = loaded.seats }
    }
}

/// Copies itself by a witness that suits values only.
private protocol Copied: HeardSettings {}

extension Copied {
    mutating func copyValues(from loaded: Self) { self = loaded }
}

private final class ReplacedSettings: Copied {
    var size = 1

    static var settingsURL: URL { SettingsPlace.file("ReplacedSettings.plist") }
}

/// Loading changes the instance that other code holds.
@Suite(.inSettingsPlace) struct SettingsClassTests {
    @Test func aSubclassIsSavedAndLoadedAsWhatItIs() throws {
        let bus = BusSettings()
        let vehicle: VehicleSettings = bus
        succeeds(vehicle.load())
        vehicle.wheels = 6
        bus.seats = 50
        succeeds(vehicle.save())
        #expect(vehicle.toDictionary()?["seats"] as? Int == 50 && vehicle.toDictionary()?["wheels"] as? Int == 6)
        let other: VehicleSettings = BusSettings()
        succeeds(other.load())
        #expect((other as? BusSettings)?.seats == 50 && other.wheels == 6)
        succeeds(VehicleSettings().load())
        #expect(VehicleSettings().toDictionary()?.keys.sorted() == ["wheels"], "its base has a file of its own")
        succeeds(vehicle.reset())
        #expect(bus.seats == 40 && bus.wheels == 4)
    }

    /// The first one by name.
    @Test func aFieldThatIsNotCopiedIsNamed() throws {
        final class PartlyCopied: HeardSettings {
            var (zoom, alpha, size) = (1, 1, 1)
            static var settingsURL: URL { SettingsPlace.file("PartlyCopied.plist") }
            func copyValues(from loaded: PartlyCopied) { size = loaded.size }
        }
        let object = PartlyCopied()
        try write(["zoom": 2, "alpha": 2, "size": 2], for: object)
        #expect(told { object.load() }.hasSuffix("alpha: was not copied by copyValues(from:)"))
    }

    @Test func aClassThatReplacesItselfIsToldThatNothingIsLoaded() throws {
        let object = ReplacedSettings()
        succeeds(object.save())
        try writePropertyList(["size": 2], to: type(of: object).settingsURL)
        var settings: any SettingsFile = object
        let message = "copyValues(from:) has replaced the object instead of changing it"
        #expect(told { object.load() }.hasSuffix(message))
        #expect(failure { try settings.tryLoad() }.hasSuffix(message))
        #expect(object.size == 1 && settings as AnyObject === object)
    }
}
