import Foundation
import PrefsJSON
import Testing
import TestSupport

/// Several processes meet one damaged file at the same moment: all read the last good copy, and the first that writes
/// quarantines the bytes, once.
@Suite(.waits) struct DamageProcessTests {
    private static let processes = 4

    /// The kind of file and of damage.
    enum Kind: String, CaseIterable {
        case file, suite, json
        case flatJSON = "flat JSON"
        /// A file that a person has indented, half of it zeros after a power cut.
        case editedJSON = "edited JSON"
        /// The base of a layered store, whose layer below has another value.
        case layeredJSON = "layered JSON"

        var isJSON: Bool { ![.file, .suite].contains(self) }

        /// The state of the last good copy, and of the file in the end.
        func content(_ values: [String: Any]) -> [String: Any] {
            self == .flatJSON ? values.merging(["other": "kept"]) { $1 } : ["ProbePrefs": values]
        }

        /// The bytes of the last good copy, and of the damaged file.
        func bytes() throws -> (good: Data, damaged: Data) {
            let content = content(["count": 7])
            switch self {
            case .file, .suite:
                let good = try PropertyListSerialization.data(fromPropertyList: content, format: .binary, options: 0)
                // The file is not cut off, because a read would wait for the rest of such a young file.
                return (good, Data("damaged".utf8) + good)
            case .json, .flatJSON, .layeredJSON:
                let good = try JSONSerialization.data(withJSONObject: content)
                return (good, Data("damaged\0".utf8) + good)
            case .editedJSON:
                let text = "{\n    \"ProbePrefs\" : {\n        \"count\" : 7\n    }\n}\n"
                return (Data(text.utf8), Data(text.utf8.prefix(30)) + Data(count: 20))
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func quarantinedOnce(_ kind: Kind) throws {
        let home = try TemporaryFolder()
        let rounds = Hazard.count("PREFS_DAMAGE_MEETINGS", default: 12)
        let readers = try (0..<Self.processes).map { _ in try PipedChild("Probe", ["meet"], home: home) }
        let folder = home.path + "/.config"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let ending = kind.isJSON ? "json" : "plist"
        func ask(_ number: Int) -> String {
            switch kind {
            case .suite: "suite \(number)"
            case .flatJSON: "flat \(folder)/\(number).\(ending)"
            case .layeredJSON: "layered \(folder)/\(number).\(ending)"
            case .file, .json, .editedJSON: "file \(folder)/\(number).\(ending)"
            }
        }
        let (good, damaged) = try kind.bytes()
        for number in 0..<rounds {
            try good.write(to: URL(filePath: "\(folder)/.\(number).\(ending).lastgood"))
            try damaged.write(to: URL(filePath: "\(folder)/\(number).\(ending)"))
        }
        for number in 0..<rounds {
            // An answer takes longer than to tell all of them.
            for reader in readers { try reader.tell(ask(number)) }
            let answers = try readers.map { try $0.line() }
            let warned = answers.count { $0.hasSuffix(" quarantined") }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let aside = names.filter { $0.hasPrefix("\(number).\(ending).corrupt-") }
            let isWhole =
                try answers.allSatisfy { ["7 damaged quarantined", "7 damaged ok", "7 ok ok"].contains($0) }
                && warned == 1
                && aside.count == 1 && Data(contentsOf: URL(filePath: "\(folder)/\(aside[0])")) == damaged
                && propertyList(at: URL(filePath: "\(folder)/\(number).\(ending)")) as NSDictionary
                    == kind.content(["count": 7, "text": "written"]) as NSDictionary
                && !names.contains(".\(number).\(ending).tmp")
            #expect(isWhole, "\(ask(number)): \(answers) \(aside)")
        }
        Hazard.report("damage: \(kind.rawValue): \(rounds) files met by \(Self.processes) processes at once")
    }
}
