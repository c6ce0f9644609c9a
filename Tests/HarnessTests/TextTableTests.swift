import Foundation
import PersistentPreferences
import Testing
import TestSupport

@testable import PrefsJSON
@testable import PrefsLayers
@testable import PrefsSupport
@testable import PrefsTool

/// Each text of the table through every path: none reads it otherwise than the others.
@Suite(.waits) final class TextTableTests: HarnessSuite {
    enum Path: CaseIterable {
        case library, environment, argument, tool, assignment

        var isLayer: Bool { self == .environment || self == .argument }
    }

    private var file: URL { home.folder.file("every.plist") }

    private func prefs(above: PrefsLayer...) -> EveryTypePrefs {
        EveryTypePrefs(store: .layered(stored, above: above))
    }

    private var stored: PrefsStore { .propertyList(url: file, layout: .flat) }

    /// What a text has become: the stored value as JSON, "nothing", or the message.
    private func outcome(of row: TextRow, by path: Path) throws -> String {
        let (key, text) = (row.key, row.text)
        switch path {
        case .library:
            do throws(PrefsError) {
                return try prefs().storedValue(ofText: text, forKey: key).map(JSONWriter.line) ?? "nothing"
            } catch {
                return "\(error)"
            }
        case .environment:
            // One line feed at the end of a variable is dropped.
            return read(key, .environment(prefix: "", in: [key: text.hasSuffix("\n") ? text + "\n" : text]))
        case .argument: return read(key, .arguments(["program", "-" + key, text]))
        case .tool: return try toolOutcome(of: ["set", "--", key, text], key)
        case .assignment: return try toolOutcome(of: ["set", "\(key)=\(text)"], key)
        }
    }

    private func read(_ key: String, _ layer: PrefsLayer) -> String {
        let prefs = prefs(above: layer)
        let value = prefs.effectiveValue(forKey: key)
        guard case .ignoredInLayer(let faults)? = prefs.lastError else {
            return value.map(JSONWriter.line) ?? "nothing"
        }
        return faults.map { $0.reason.hasPrefix(key) ? $0.reason : "\(key): \($0.reason)" }.joined()
    }

    override var program: Program? {
        let stored = stored
        return Program(name: "p") { EveryTypePrefs(key: $0, values: nil, store: $1 ?? stored) }
    }

    private func toolOutcome(of arguments: [String], _ key: String) throws -> String {
        let printed = try prefs(arguments)
        if printed.code == 0 { return storedText(of: key) }
        #expect(printed.code == 1 && printed.output.isEmpty && printed.errors.hasPrefix("p: "), "\(printed)")
        return String(printed.errors.dropFirst(3).dropLast())
    }

    private func storedText(of key: String) -> String {
        EveryTypePrefs(store: stored).effectiveValue(forKey: key).map(JSONWriter.line) ?? "nothing"
    }

    @Test(arguments: TextTable.rows) func everyPathReadsATextAlike(_ row: TextRow) throws {
        // The usual form reads each row by half of the paths.
        for path in Hazard.each(2, of: Path.allCases, from: row.text.utf8.count) {
            if row.isIncrement, path == .tool || path == .assignment { continue }
            let expected =
                switch row.meaning {
                case .value(let value): value
                case .message(let message): "\(row.key): \(message)"
                case .flaw(let message): "\(row.key)\(message)"
                case .valueOfLayer(let value): path.isLayer || path == .library ? value : "nothing"
                case .removal(let message): path.isLayer ? "\(row.key): \(message)" : "nothing"
                }
            #expect(try outcome(of: row, by: path) == expected, "\(path)")
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// The forms of a value in a JSON file: of the program, of a layer, and in an import.
    @Test(arguments: TextTable.rows) func everyJSONFileIsReadAlike(_ row: TextRow) throws {
        guard case .value(let value) = row.meaning else { return }
        let sample = EveryTypePrefs(store: .memory())
        let json = home.folder.file("every.json")
        let flat = PrefsStore.propertyList(url: json, format: .json, layout: .flat)
        let text = try #require(try sample.storedValue(ofText: row.text, forKey: row.key))
        let expected = try #require(sample.readValue(of: text, forKey: row.key))
        for form in [value] + row.json {
            let data = Data(#"{"\#(row.key)": \#(form)}"#.utf8)
            try data.write(to: json)
            let layered = EveryTypePrefs(store: .layered(stored, above: [.file(json)]))
            let imported = EveryTypePrefs(store: .memory())
            imported.import(data, merge: true)
            for prefs in [EveryTypePrefs(store: flat), layered, imported] {
                let read = prefs.effectiveValue(forKey: row.key)
                #expect(prefs.lastError == nil, "\(form)")
                #expect(read.flatMap { prefs.readValue(of: $0, forKey: row.key) } == expected, "\(form)")
            }
        }
    }
}
