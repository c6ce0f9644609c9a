import Foundation
import PersistentPreferences
import PrefsSettingsFiles
import PrefsStoreKit
import TestSupport

ReadBack.begin

// The commands that the tests of the default store run in a process with its own home: `Probe COMMAND ARGUMENTS`.
var arguments = CommandLine.arguments.dropFirst()
// Without /proc, a program has no arguments.
if arguments.isEmpty, let command = getenv("PROBE_COMMAND") { arguments = [String(cString: command)] }
@MainActor func word() -> String { arguments.popFirst() ?? "" }
@MainActor func number() -> Int { Int(word()) ?? 0 }

switch word() {
case "conformance":
    try Probe.conformance(word(), updates: number())
case "increment":
    Probe.increment(count: number())
case "migrate":
    MigratingPrefs.race(turns: number())
case "narrow":
    GapPrefs.narrow(attempts: number())
case "upgrade":
    Upgrading.run(isNew: word() == "new", turns: number())
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
    ProbeSettings.save(from: number(), count: arguments.popFirst().flatMap(Int.init))
case "load-settings-or-fail":
    var settings = ProbeSettings()
    print(settings.load())
case "load-settings":
    ProbeSettings.report()
case "count-more":
    let prefs = ProbePrefs()
    prefs.update { $0["count"] = ($0["count"] as? Int ?? 0) + 1 }
    print(prefs["count"] ?? "nil")
case "report":
    Probe.report()
case "report-elsewhere":
    for name in ["HOME", "XDG_CONFIG_HOME"] { setenv(name, "/elsewhere", 1) }
    Probe.report()
case "bystander":
    Bystander.serve(Array(arguments))
case "surroundings":
    Surroundings.run(arguments)
case "meet":
    Meeting.serve()
case "fork":
    Fork.childLivesOn(word(), parentIsKilled: false)
case "fork-killed":
    Fork.childLivesOn(word(), parentIsKilled: true)
case "fork-returns":
    Fork.childReturns(word())
case "fork-command":
    Fork.childOfACommandReturns(word())
case "fork-writes":
    Fork.childWrites(word())
case "fork-observes":
    Fork.childObserves(word())
case "fork-threads":
    Fork.threadsWrite(word(), forks: number())
case "closed-streams":
    try Descriptors.writeWithoutStreams(word(), count: number())
case "closed-descriptors":
    Descriptors.closeAll(word())
case "closed-often":
    Descriptors.closeOften(word())
case "exit-in-update":
    Descriptors.exitInUpdate(word())
case "orphan":
    try FileManager.default.removeItem(atPath: CommandLine.arguments[0])
    Probe.report()
case "report-count":
    let prefs = ProbePrefs()
    print(prefs["count"] ?? "nil", prefs.outcome)
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
    try Nesting.run(kibibytes: number(), URL(filePath: word()))
case "locale":
    try Locales.run(word())
case "locale-foundation":
    Locales.foundationWrites()
case "damage":
    try Probe.damage()
case "torture":
    try Probe.torture(Array(arguments))
case "history":
    try Probe.history(Array(arguments))
case let command:
    fatalError("no command \(command)")
}
