@testable import PrefsSupport
import Foundation
import PersistentPreferences
import PrefsLayers

enum LayerTheme: String, Codable, CaseIterable, Sendable { case light, dark }

struct LayerServer: Codable, Equatable, Sendable {
    var host = "localhost"
    var port = 80
}

final class LayerPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(8...72)) var size = 12
    @Pref var name = "none"
    @Pref var small: Int8 = 0
    @Pref var ratio = 0.5
    @Pref var isOn = false
    @Pref var theme = LayerTheme.light
    @Pref var limit: Int?
    @Pref var tags = ["a"]
    @Pref var numbers: [Int] = []
    @Pref var colors: Set<String> = []
    @Pref var date = Date(timeIntervalSinceReferenceDate: 0)
    @Pref var server = LayerServer()
    @Pref var servers: [LayerServer] = []
    @Pref var need: LayerServer?
    @Pref("font.size") var fontSize = 9

    /// Has no declaration.
    override var allowedKeys: [String] { ["plain"] }
}

extension PrefsLayer {
    /// The variables `APP_…` of the given environment alone.
    static func variables(_ variables: [String: String]) -> PrefsLayer { environment(prefix: "APP_", in: variables) }
}

extension PrefsError {
    var layerFaults: [PrefsProblem] { detail(of: PrefsError.ignoredInLayer) ?? [] }
    var coveredKeys: [PrefsProblem] { detail(of: PrefsError.coveredByLayer) ?? [] }
}

extension PrefsProblem {
    /// The name of the layer.
    var layer: String? { if case .layer(let name) = source { name } else { nil } }
}
