// A time tracker: it sums up files in which each line is a project and a number of minutes, such as `website 90`. Its
// twelve settings come from options, variables, the user's file and a file of the system, in this order.
//
//     swift run Tracker report log.txt                      # with the defaults
//     swift run Tracker report --rounding 15m log.txt       # an option, for this run only
//     TRACKER_HOURLY_RATE=80 swift run Tracker report log.txt
//     swift run Tracker save --columns 60                   # writes ~/.config/tracker/config.json
//     swift run Tracker settings                            # each setting, and where its value comes from
//     swift run Tracker --help                              # the options, from the declarations

import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers

enum Order: String, CaseIterable, Codable {
    case name, time
}

final class TrackerPrefs: Prefs, @unchecked Sendable {
    @Pref(.help("The line above a report.")) var title: String? = nil
    @Pref(.help("The only project of a report; all if empty.")) var project = ""
    @Pref(.help("Projects that no report has.")) var skipped: [String] = []
    @Pref(.help("The names of projects in reports.")) var names: [String: String] = [:]
    @Pref(.help("Each line of a file is rounded up to a multiple.")) var rounding = Duration.seconds(60)
    @Pref(.help("Amounts are shown if it is not 0.")) var hourlyRate = Decimal(0)
    @Pref(.in(["CHF", "EUR", "GBP", "USD"])) var currency = "EUR"
    @Pref(.in(0...4), .help("The digits after the point of hours.")) var digits = 2
    @Pref(.in(20...500), .help("The width of a report.")) var columns = 60
    @Pref(.help("How the projects are sorted.")) var order = Order.name
    @Pref(.help("Whether a report ends with a sum.")) var total = true
    @Pref(.help("Whether a report also has each line of the files.")) var verbose = false

    static let file = PrefsStore.json(program: "tracker")
    static let environment = PrefsLayer.environment(prefix: "TRACKER_")
    static let system = PrefsLayer.system("tracker")
    override class var store: PrefsStore {
        .layered(file, above: [.arguments(), environment], below: [system])
    }
}

struct Failure: Error {
    let reason: String
    var code: Int32 = 1
}

struct Entry {
    let project: String
    let minutes: Int
}

/// The lines of a file. Empty lines and those that begin with `#` are left out.
func entries(in path: String) throws -> [Entry] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
        throw Failure(reason: "\(path): cannot be read as UTF-8 text")
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return try lines.enumerated().compactMap { index, line in
        let words = line.split(whereSeparator: \.isWhitespace)
        if words.isEmpty || words[0].hasPrefix("#") { return nil }
        guard words.count == 2, let minutes = Int(words[1]), (0...1_000_000).contains(minutes) else {
            throw Failure(reason: "\(path):\(index + 1): expected a project and its minutes, such as: website 90")
        }
        return Entry(project: String(words[0]), minutes: minutes)
    }
}

struct Report {
    let prefs: TrackerPrefs

    func print(_ paths: [String]) throws {
        let all = try paths.flatMap(entries).filter {
            (prefs.project.isEmpty || $0.project == prefs.project) && !prefs.skipped.contains($0.project)
        }
        if let title = prefs.title { Swift.print(title) }
        var sums: [String: Int] = [:]
        for entry in all {
            let minutes = rounded(entry.minutes)
            sums[entry.project, default: 0] += minutes
            if prefs.verbose { print("  " + name(of: entry.project), minutes) }
        }
        for (project, minutes) in sums.sorted(by: precedes) { print(name(of: project), minutes) }
        if prefs.total { print("total", sums.values.reduce(0, +)) }
    }

    private func rounded(_ minutes: Int) -> Int {
        let step = max(1, Int(prefs.rounding.components.seconds / 60))
        return (minutes + step - 1) / step * step
    }

    private func name(of project: String) -> String { prefs.names[project] ?? project }

    private func precedes(_ left: (key: String, value: Int), _ right: (key: String, value: Int)) -> Bool {
        switch prefs.order {
        case .name: left.key < right.key
        case .time: (right.value, left.key) < (left.value, right.key)
        }
    }

    /// Prints a line that fills the columns: the name, the hours, and the amount if there is a rate.
    private func print(_ name: String, _ minutes: Int) {
        var figures = String(format: "%.\(prefs.digits)f h", Double(minutes) / 60)
        if prefs.hourlyRate != 0 {
            let amount = NSDecimalNumber(decimal: Decimal(minutes) * prefs.hourlyRate / 60).doubleValue
            figures += String(format: "  %.2f ", amount) + prefs.currency
        }
        let gap = max(2, prefs.columns - name.count - figures.count)
        Swift.print(name + String(repeating: " ", count: gap) + figures)
    }
}

/// Stores the options of this run in the user's file, all or none. `given` has the options and nothing else.
func save(_ given: TrackerPrefs) throws {
    let options = given.values
    if options.isEmpty { throw Failure(reason: "save: there is no option to save", code: 64) }
    // Without the arguments, which would cover the same keys of the file. A variable covers them: it would still win.
    let saved = TrackerPrefs(
        store: .layered(
            TrackerPrefs.file, above: [TrackerPrefs.environment], below: [TrackerPrefs.system]))
    if case .failure(let error) = saved.update({ $0.merge(options) { $1 } }) { throw Failure(reason: "\(error)") }
}

func complain(_ text: String) {
    FileHandle.standardError.write(Data("Tracker: \(text)\n".utf8))
}

let usage = "usage: Tracker report [OPTION ...] FILE ... | save OPTION ... | settings"

func run() throws {
    let prefs = TrackerPrefs()
    let words = PrefsLayer.unusedArguments(by: prefs)
    let end = words.firstIndex(of: "--") ?? words.endIndex
    let operands = words[..<end].filter { !$0.hasPrefix("-") } + words[end...].dropFirst()

    if words[..<end].contains("--help") {
        print("\(usage)\n\n\(PrefsLayer.usage(of: prefs))")
        return
    }

    // A wrong option ends the program.
    let given = TrackerPrefs(store: .layered(.memory(), above: [.arguments()]))
    let unknown = words[..<end].filter { $0.hasPrefix("-") }.map { "unknown option \($0)" }
    let mistakes = given.problems().map(\.description) + unknown
    for mistake in mistakes { complain(mistake) }
    if !mistakes.isEmpty { throw Failure(reason: usage, code: 64) }

    // A wrong variable, or a mistake in a file, does not: the next layer or the default counts.
    for problem in prefs.problems() { complain("\(problem)") }

    switch (operands.first, operands.dropFirst()) {
    case ("report", let paths) where !paths.isEmpty:
        try Report(prefs: prefs).print(Array(paths))
    case ("save", []):
        try save(given)
    case ("settings", []):
        for setting in prefs.describe() {
            let value = prefs[setting.key] ?? setting.defaultValue
            print("\(setting.key) = \(value) (\(setting.source ?? .default))")
        }
    default:
        throw Failure(reason: usage, code: 64)
    }
}

do {
    try run()
} catch let failure as Failure {
    complain(failure.reason)
    exit(failure.code)
}
