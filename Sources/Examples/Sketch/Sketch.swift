// A program with a command for its settings.
//
//     swift run Sketch                                # draws with the settings
//     swift run Sketch --format markdown              # an option, for this run only
//     swift run Sketch prefs                          # all settings, their types and where their values come from
//     swift run Sketch prefs set width=3 pen=ink      # both or none
//     swift run Sketch prefs set canvas.height 2      # a part of a value
//     swift run Sketch prefs help pen                 # what a setting means and accepts
//     swift run Sketch prefs edit                     # all settings in an editor

import Foundation
import PersistentPreferences
import PrefsLayers
import PrefsTool

enum Pen: String, CaseIterable, Codable {
    case pencil, ink, brush
}

enum Format: String, CaseIterable, Codable {
    case text, markdown
}

struct Canvas: Codable, Equatable {
    var width = 20
    var height = 3
}

final class SketchPrefs: Prefs, @unchecked Sendable {
    @Pref(.in(1...9), .help("How many rows a line is high.")) var width = 1
    @Pref(.in(0...1), .help("1 is opaque.")) var opacity = 1.0
    @Pref(.help("What draws the line.")) var pen = Pen.pencil
    @Pref(.help("Whether dots mark every fifth column.")) var grid = false
    @Pref(.help("The names of the layers, from the lowest.")) var layers = ["paper"]
    @Pref(.help("The size in characters.")) var canvas = Canvas()
    @Pref(.help("When the drawing is to be finished.")) var due: Date? = nil
    @Pref(.help("How the drawing is printed.")) var format = Format.text

    // The words of `Sketch prefs …` are no options: `export --format json` does not change this `format`.
    override class var store: PrefsStore { .layered(.userDefaults(), above: [.arguments()]) }
}

func draw(_ prefs: SketchPrefs) {
    let canvas = prefs.canvas
    let ink: Character =
        switch prefs.pen {
        case .pencil: prefs.opacity < 0.5 ? "." : "-"
        case .ink: prefs.opacity < 0.5 ? "-" : "="
        case .brush: prefs.opacity < 0.5 ? "+" : "#"
        }
    if prefs.format == .markdown { print("```") }
    for row in 0..<canvas.height {
        let isLine = (0..<prefs.width).contains(row - (canvas.height - prefs.width) / 2)
        print(String((0..<canvas.width).map { isLine ? ink : prefs.grid && $0 % 5 == 0 ? ":" : " " }))
    }
    if prefs.format == .markdown { print("```") }
    print(prefs.layers.joined(separator: " < ") + (prefs.due.map { ", due \($0.formatted(.iso8601))" } ?? ""))
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "prefs" {
    exit(
        PrefsTool.run(Array(arguments.dropFirst()), name: "Sketch prefs") { root, store in
            store.map { SketchPrefs(key: root, store: $0) } ?? SketchPrefs(key: root)
        })
}
draw(SketchPrefs())
