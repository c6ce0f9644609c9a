import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import Testing
import TestSupport

private class VehicleSettings: SettingsFile {
    var wheels = 4

    init() {}

    func settingsURL() -> URL { SettingsPlace.file("\(type(of: self)).plist") }

    func take(_ loaded: VehicleSettings) { wheels = loaded.wheels }
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

    override func take(_ loaded: VehicleSettings) {
        super.take(loaded)
        if let loaded = loaded as? BusSettings { seats = loaded.seats }
    }
}

/// Loading changes the instance that other code holds.
@Suite struct SettingsClassTests {
    @Test func aSubclassIsSavedAndLoadedAsWhatItIs() throws {
        try SettingsPlace.with { _ throws in
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
            succeeds(vehicle.fromDictionary(["seats": 3]))
            #expect(bus.seats == 3 && bus.wheels == 4)
        }
    }

    @Test(.enabled(if: SwiftPlutil.isThere(for: "settings files")))
    func everyFileIsAPropertyList() throws {
        let plutil = try #require(SwiftPlutil.program)
        try SettingsPlace.with { folder throws in
            succeeds(BusSettings().load())
            var (view, mode) = (ViewSettings(), ModeSettings.expert(level: 2))
            succeeds(view.load())
            succeeds(mode.load())
            var player = PlayerSettings()
            succeeds(player.loadUsingSettingsFile(in: .module))
            player.level += 1
            succeeds(player.save())
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("Settings").path)
                .filter { $0.hasSuffix(".plist") || $0.hasSuffix(".init") }
            #expect(names.count == 7)
            for name in names {
                let result = try Child(plutil, ["-lint", folder.file("Settings/\(name)").path], environment: [:]).wait()
                #expect(result.code == 0, "\(name): \(result.output)\(result.errors)")
            }
        }
    }
}
