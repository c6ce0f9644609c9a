import Foundation
import PersistentPreferences
import Testing

@testable import PrefsLayers

/// What a layer makes of variables or of arguments: a row of a table.
struct WordsRow: CustomTestStringConvertible, Sendable {
    /// The variables, `A=1 B=2`, or the arguments.
    let input: [String]
    /// The values that differ from the defaults: `fontSize=20`, sorted.
    let values: [String]
    /// The faults and notes: `place: reason`.
    let problems: [String]
    /// The arguments that are handed out.
    let unused: [String]

    init(_ input: [String], _ values: [String] = [], problems: [String] = [], unused: [String] = []) {
        (self.input, self.values, self.problems, self.unused) = (input, values, problems, unused)
    }

    var testDescription: String { input.joined(separator: " ") }

    /// - Parameter words: the arguments of the layer, with the name of the program.
    func check(_ prefs: PersistentPrefs, _ words: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        check(prefs, "arguments", sourceLocation: sourceLocation)
        #expect(PrefsLayer.unusedArguments(by: prefs, in: words) == unused, sourceLocation: sourceLocation)
    }

    func check(_ prefs: PersistentPrefs, _ layer: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let faults = prefs.lastError?.layerFaults ?? []
        #expect(prefs.values.map { "\($0)=\($1)" }.sorted() == values.sorted(), sourceLocation: sourceLocation)
        let found = prefs.problems().map(\.description)
        let expected = problems.map { $0.replacing(": ", with: ": \(layer): ", maxReplacements: 1) }
        #expect(found == expected, sourceLocation: sourceLocation)
        #expect(
            found.starts(with: faults.map { "\($0.path): \($0.layer ?? ""): \($0.reason)" }),
            sourceLocation: sourceLocation)
        let set = prefs.describe().filter { $0.source == .layer(layer) }.map(\.key)
        for value in values {
            #expect(set.contains(String(value.prefix { $0 != "=" })), "\(value)", sourceLocation: sourceLocation)
        }
    }
}
