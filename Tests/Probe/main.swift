import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import PrefsStoreChecks

// The commands that the tests of the default store run in a process with its own home: `Probe COMMAND ARGUMENTS`.
var arguments = CommandLine.arguments.dropFirst()
switch arguments.popFirst() {
case "conformance":
    let check = arguments.popFirst() ?? ""
    try Probe.conformance(check, updates: arguments.popFirst().flatMap(Int.init) ?? 0)
case "increment":
    Probe.increment(count: arguments.popFirst().flatMap(Int.init) ?? 0)
case "migrate":
    MigratingPrefs.race(turns: arguments.popFirst().flatMap(Int.init) ?? 0)
case "upgrade":
    let isNew = arguments.popFirst() == "new"
    Upgrading.run(isNew: isNew, turns: arguments.popFirst().flatMap(Int.init) ?? 0)
case "drop-in":
    try DropIn.run()
case "adopt":
    Probe.adopt()
case "serve":
    Probe.serve()
case "watch":
    Watching.serve()
case "agreement":
    try Probe.agreement()
case "type-safe-defaults":
    try Probe.typeSafeDefaults()
case "write-to-defaults":
    Probe.writeToDefaults()
case "type-safe-defaults-read":
    Probe.typeSafeDefaultsRead()
case "save-settings":
    let first = arguments.popFirst().flatMap(Int.init) ?? 0
    ProbeSettings.save(from: first, count: arguments.popFirst().flatMap(Int.init))
case "load-settings-or-fail":
    var settings = ProbeSettings()
    print(settings.load())
case "load-settings":
    ProbeSettings.report()
case "report":
    Probe.report()
case "surroundings":
    Surroundings.run(arguments)
case "meet":
    Meeting.serve()
case "fork":
    Fork.childLivesOn(arguments.popFirst() ?? "", parentIsKilled: false)
case "fork-killed":
    Fork.childLivesOn(arguments.popFirst() ?? "", parentIsKilled: true)
case "fork-returns":
    Fork.childReturns(arguments.popFirst() ?? "")
case "fork-writes":
    Fork.childWrites(arguments.popFirst() ?? "")
case "fork-threads":
    Fork.threadsWrite(arguments.popFirst() ?? "", forks: arguments.popFirst().flatMap(Int.init) ?? 0)
case "closed-streams":
    try Descriptors.writeWithoutStreams(
        arguments.popFirst() ?? "", count: arguments.popFirst().flatMap(Int.init) ?? 0)
case "closed-descriptors":
    Descriptors.closeAll(arguments.popFirst() ?? "")
case "closed-often":
    Descriptors.closeOften(arguments.popFirst() ?? "")
case "exit-in-update":
    Descriptors.exitInUpdate(arguments.popFirst() ?? "")
case "orphan":
    try FileManager.default.removeItem(atPath: CommandLine.arguments[0])
    Probe.report()
case "report-count":
    let prefs = ProbePrefs()
    print(prefs["count"] ?? "nil", prefs.lastError.map { "\($0)" } ?? "ok")
case "unsynchronized":
    Probe.unsynchronized()
case "older-states":
    Probe.olderStates()
case "volatile-values":
    Probe.volatileValues()
case "before-tests":
    _ = ProbePrefs()
    print(StoreReplacements.install(NoReplacement()), StoreReplacements.earlierClass ?? "none")
case "nesting":
    try Nesting.run(Array(arguments))
case "locale":
    try Locales.run(arguments.popFirst() ?? "")
case "locale-foundation":
    Locales.foundationWrites()
case "damage":
    try Probe.damage()
case "torture":
    try Probe.torture(Array(arguments))
case "history":
    try Probe.history(Array(arguments))
case let command:
    fatalError("no command \(command ?? "")")
}
