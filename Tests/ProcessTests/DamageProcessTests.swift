import Foundation
import TestSupport
import Testing

/// Several processes meet one damaged file at the same moment: all read the last good copy, and the first that writes quarantines
/// the bytes, once.
@Suite struct DamageProcessTests {
    private static let processes = 4

    @Test(arguments: ["file", "json", "suite"])
    func quarantinedOnce(_ kind: String) throws {
        let home = try TemporaryFolder()
        let rounds = Hazard.count("PREFS_DAMAGE_MEETINGS", default: 12)
        let readers = try (0..<Self.processes).map { _ in try PipedChild("Probe", ["meet"], home: home) }
        let folder = home.path + "/.config"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let ending = kind == "json" ? "json" : "plist"
        func ask(_ number: Int) -> String {
            kind == "suite" ? "suite \(number)" : "file \(folder)/\(number).\(ending)"
        }
        let content = ["ProbePrefs": ["count": 7]]
        let good =
            kind == "json"
            ? try JSONEncoder().encode(content)
            : try PropertyListSerialization.data(fromPropertyList: content, format: .binary, options: 0)
        // Not cut off: a read would wait for the rest of so young a file.
        let damaged = Data("damaged".utf8) + good
        for number in 0..<rounds {
            try good.write(to: URL(filePath: "\(folder)/.\(number).\(ending).lastgood"))
            try damaged.write(to: URL(filePath: "\(folder)/\(number).\(ending)"))
        }
        var lost = 0
        for number in 0..<rounds {
            let answers = try allAtOnce(readers, ask(number))
            let warned = answers.count { $0.hasSuffix(" quarantined") }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let aside = names.filter { $0.hasPrefix("\(number).\(ending).corrupt-") }
            let isWhole =
                try answers.allSatisfy { ["7 damaged quarantined", "7 damaged ok", "7 ok ok"].contains($0) }
                && warned == 1
                && aside.count == 1 && Data(contentsOf: URL(filePath: "\(folder)/\(aside[0])")) == damaged
                && propertyList(at: URL(filePath: "\(folder)/\(number).\(ending)")) as? [String: [String: AnyHashable]]
                    == ["ProbePrefs": ["count": 7, "text": "written"]]
                && !names.contains(".\(number).\(ending).tmp")
            if !isWhole { lost += 1 }
            #expect(isWhole, "\(ask(number)): \(answers) \(aside)")
        }
        Hazard.report(
            "damage: \(kind): \(rounds) files met by \(Self.processes) processes at once, \(rounds - lost) quarantined "
                + "once, \(lost) lost")
    }

    private func allAtOnce(_ readers: [PipedChild], _ question: String) throws -> [String] {
        nonisolated(unsafe) let readers = readers
        nonisolated(unsafe) var answers = Array(repeating: "", count: readers.count)
        let lock = NSLock()
        inThreads(readers.count) { number in
            let answer = (try? readers[number].ask(question)) ?? "none"
            lock.withLock { answers[number] = answer }
        }
        return answers
    }
}
