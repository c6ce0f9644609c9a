// swift-tools-version: 6.2
import PackageDescription

/// What every target of the package is held to. Warnings are not errors here, because a client may build its dependencies with
/// `-suppress-warnings`, which conflicts. Scripts/check.sh builds with `-warnings-as-errors`.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// For tests whose classes do not restate `@unchecked Sendable`, as in RVS_PersistentPrefs: the compiler warns about each. The
/// frontend gets this flag after the `-warnings-as-errors` of the command line, so this flag wins. Clients never build these
/// targets.
let mayWarn: [SwiftSetting] = [.unsafeFlags(["-Xfrontend", "-no-warnings-as-errors"])]

/// Apple's tools look for the privacy manifest among the resources. Elsewhere it is left out, since a resource costs something:
/// an accessor is compiled in, with the absolute path of the build in it, and a folder goes with the program.
#if os(macOS)
    let (privacy, leftOut): ([Resource], [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#else
    let (privacy, leftOut): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
#endif

// The targets of the library, each with all targets that it may import: `Scripts/order.sh` holds the order.
let core = ["PrefsPropertyLists", "PrefsFileEngine", "PersistentPreferences"]

/// A target of the library. Its folder in `Sources` has its name, unless `path` names another one.
func library(
    _ name: String, _ needed: [String] = core, onApple more: [String] = [], path: String? = nil
) -> Target {
    let apple = TargetDependencyCondition.when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])
    return .target(
        name: name,
        dependencies: needed.map { .init(stringLiteral: $0) } + more.map { .target(name: $0, condition: apple) },
        path: "Sources/\(path ?? name)",
        exclude: name == "PersistentPreferences" ? leftOut : [],
        resources: name == "PersistentPreferences" ? privacy : [], swiftSettings: strict)
}

let libraries = [
    library("PrefsPropertyLists", [], path: "PropertyLists"),
    library("PrefsFileEngine", ["PrefsPropertyLists"], path: "FileEngine"),
    // A domain of UserDefaults on Apple platforms. Elsewhere, only tests use it, over a model.
    library("PrefsDefaultsDomain", ["PrefsPropertyLists", "PrefsFileEngine"], path: "DefaultsDomain"),
    library("PersistentPreferences", ["PrefsPropertyLists", "PrefsFileEngine"], onApple: ["PrefsDefaultsDomain"]),
    library("PrefsDocuments"),
    library("PrefsJSON", core + ["PrefsDocuments"]),
    library("PrefsLayers", core + ["PrefsJSON"], onApple: ["PrefsDefaultsDomain"]),
    library("PrefsKeys"),
    library("PrefsSettingsFiles"),
    library("PrefsUI", ["PersistentPreferences", "PrefsKeys"]),
    library("PrefsEtcd", ["PersistentPreferences", "PrefsFileEngine", "PrefsJSON"]),
    library("PrefsTool", core + ["PrefsDocuments", "PrefsJSON", "PrefsLayers"]),
    library("RVS_PersistentPrefs", core + ["PrefsKeys"]),
    library("PrefsStoreKit"),
    library("PrefsTesting", ["PersistentPreferences", "PrefsPropertyLists"]),
]

/// A complete program that uses the library.
func example(_ name: String, _ needed: String...) -> Target {
    .executableTarget(
        name: name, dependencies: ["PersistentPreferences"] + needed.map { .init(stringLiteral: $0) },
        path: "Sources/Examples/\(name)", swiftSettings: strict)
}

let programs = [
    .target(name: "PrefsTestSet", dependencies: ["PersistentPreferences"], swiftSettings: strict),
    .executableTarget(
        name: "HarnessCLI",
        dependencies: ["PersistentPreferences", "PrefsEtcd", "PrefsJSON", "PrefsTestSet", "PrefsTool"],
        path: "HarnessCLI", swiftSettings: strict),
    example("Words", "PrefsKeys"),
    example("Pulse", "PrefsJSON"),
    example("Beacon", "PrefsJSON", "PrefsLayers"),
    example("Tracker", "PrefsJSON", "PrefsLayers"),
    example("Fleet", "PrefsEtcd"),
    example("Sketch", "PrefsLayers", "PrefsTool"),
]

/// Code that tests share, in `Tests`. As a test target it has no tests, but may take `@testable import` in a release build, too.
func support(
    _ name: String, _ needed: [Target.Dependency], path: String? = nil, resources: [Resource] = [],
    isTesting: Bool = false
) -> Target {
    let path = "Tests/\(path ?? name)"
    return isTesting
        ? .testTarget(name: name, dependencies: needed, path: path, resources: resources, swiftSettings: strict)
        : .target(name: name, dependencies: needed, path: path, resources: resources, swiftSettings: strict)
}

/// A program that tests run.
func probe(_ name: String, _ needed: [Target.Dependency], exclude: [String] = []) -> Target {
    .executableTarget(
        name: name, dependencies: needed, path: "Tests/\(name)", exclude: exclude, swiftSettings: strict)
}

let helpers = [
    support("TestSupport", ["PrefsPropertyLists"], path: "Support"),
    // The engine's watcher of Apple platforms, which elsewhere only tests compile. The folder is a link to the engine's.
    .testTarget(
        name: "AppleFolderWatch", dependencies: ["PrefsFileEngine", "PrefsPropertyLists"],
        path: "Tests/AppleFolderWatch", swiftSettings: strict + [.define("APART")]),
    support("AppleVnodes", ["AppleFolderWatch"], path: "AppleModels/Vnodes", isTesting: true),
    support(
        "AppleModels", ["PersistentPreferences", "PrefsDefaultsDomain", "PrefsLayers"],
        path: "AppleModels/Defaults"),
    support(
        "PropertyListSupport", ["PrefsJSON", "PrefsPropertyLists", "TestSupport"],
        resources: [.copy("Resources/plain_form.py"), .copy("Resources/plain_form.rb")]),
    // Its system calls are subclasses of the engine's.
    support("EngineSupport", ["AppleFolderWatch", "AppleVnodes", "PrefsFileEngine", "TestSupport"], isTesting: true),
    // Every way to write, as clients write: over the public modules alone.
    support(
        "WriteOperations",
        ["PersistentPreferences", "PrefsJSON", "PrefsKeys", "PrefsSettingsFiles", "PrefsStoreKit", "TestSupport"]),
    support(
        "PrefsSupport",
        [
            "EngineSupport", "PersistentPreferences", "PrefsJSON", "PrefsStoreKit", "PropertyListSupport",
            "TestSupport",
        ], path: "PersistentPreferencesTests/Support", isTesting: true),
    probe(
        "Probe",
        [
            "PersistentPreferences", "PrefsFileEngine", "PrefsJSON", "PrefsKeys", "PrefsLayers", "PrefsSettingsFiles",
            "PrefsStoreKit", "RVS_PersistentPrefs", "TestSupport", "WriteOperations",
        ]),
    probe(
        "Benchmarks",
        ["PersistentPreferences", "PrefsJSON", "PrefsKeys", "PrefsLayers", "PrefsStoreKit", "PrefsTool"],
        exclude: ["README.md", "thresholds.txt"]),
    probe("RawDefaults", []),
    probe("EtcdProbe", ["PersistentPreferences", "PrefsEtcd", "PrefsStoreKit", "TestSupport"]),
]

/// Tests of one target of the library, or of one area of `PersistentPreferences`: one test target for each, so that a change of
/// one suite does not compile the others.
func tests(
    _ name: String, _ needed: [Target.Dependency] = [], in folder: String = "", resources: [Resource] = [],
    settings: [SwiftSetting] = strict
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: needed, path: "Tests/\(folder)\(name)\(folder.isEmpty ? "Tests" : "")",
        resources: resources, swiftSettings: settings)
}

/// What the tests of the library use, besides what they test.
let common: [Target.Dependency] = [
    "EngineSupport", "PersistentPreferences", "PrefsJSON", "PrefsLayers", "PrefsStoreKit", "PrefsSupport",
    "PrefsTestSet",
    "PropertyListSupport", "TestSupport", "WriteOperations",
]

func areaTests(_ area: String, _ others: Target.Dependency..., resources: [Resource] = []) -> Target {
    tests(area, common + others, in: "PersistentPreferencesTests/", resources: resources)
}

let testTargets = [
    tests("PropertyLists", ["PrefsJSON", "PrefsPropertyLists", "PropertyListSupport", "TestSupport"]),
    tests(
        "FileEngine",
        [
            "AppleFolderWatch", "AppleVnodes", "EngineSupport", "PrefsDocuments", "PrefsFileEngine", "PrefsJSON",
            "PrefsPropertyLists", "PropertyListSupport", "TestSupport",
        ], resources: [.copy("Corpus")]),
    areaTests("Base", "PrefsKeys", "PrefsSettingsFiles", "PrefsTesting"),
    areaTests("Typed", "PrefsKeys", "PrefsSettingsFiles", resources: [.copy("Resources/FirstEdition")]),
    areaTests("Observation", "AppleModels", "PrefsDefaultsDomain", "PrefsKeys"),
    areaTests("Stores", "AppleModels", "PrefsDefaultsDomain", "PrefsDocuments", "PrefsKeys", "PrefsTesting"),
    areaTests(
        "Hazards", "AppleModels", "PrefsDefaultsDomain", "PrefsKeys", "PrefsSettingsFiles",
        resources: [.copy("Corpus")]),
    areaTests("Sources", "PrefsKeys", "PrefsSettingsFiles", "PrefsTesting"),
    tests("PrefsDocuments", common + ["PrefsDocuments"]),
    tests("PrefsJSON", common + ["PrefsKeys", "PrefsSettingsFiles"]),
    tests("PrefsLayers", common + ["AppleModels", "PrefsDefaultsDomain", "PrefsKeys"]),
    tests(
        "PrefsKeys", common + ["PrefsKeys", "PrefsSettingsFiles"],
        resources: [.copy("Resources/TypeSafeDefaults.plist")]),
    tests(
        "PrefsSettingsFiles", common + ["PrefsDocuments", "PrefsSettingsFiles"],
        resources: [
            .copy("Resources/Quotes.plist"), .copy("Resources/PlayerSettings.plist"),
            .copy("Resources/ShopSettings.plist"),
        ]),
    // A store as clients write it: the public modules, and TestSupport for waits.
    tests(
        "Remote", ["PersistentPreferences", "PrefsJSON", "PrefsStoreKit", "TestSupport"],
        in: "PersistentPreferencesTests/"),
    tests(
        "PrefsTesting",
        ["EngineSupport", "PersistentPreferences", "PrefsStoreKit", "PrefsTesting", "Probe", "TestSupport", "Words"]),
    tests(
        "Etcd",
        [
            "EngineSupport", "EtcdProbe", "Fleet", "HarnessCLI", "PersistentPreferences", "PrefsEtcd", "PrefsJSON",
            "PrefsLayers", "PrefsPropertyLists", "PrefsStoreKit", "PrefsTesting", "TestSupport",
        ]),
    tests(
        "Harness",
        [
            "EngineSupport", "HarnessCLI", "PersistentPreferences", "PrefsFileEngine", "PrefsJSON", "PrefsLayers",
            "PrefsStoreKit", "PrefsSupport", "PrefsTestSet", "PrefsTool", "RawDefaults", "TestSupport",
        ]),
    tests(
        "Process",
        [
            "EngineSupport", "PersistentPreferences", "PrefsFileEngine", "PrefsJSON", "PrefsLayers",
            "PrefsPropertyLists", "PrefsStoreKit", "Probe", "RawDefaults", "TestSupport", "WriteOperations",
        ]),
    tests(
        "Example",
        [
            "Beacon", "EngineSupport", "HarnessCLI", "PersistentPreferences", "PrefsJSON", "Pulse", "Sketch",
            "TestSupport",
            "Tracker", "Words",
        ]),
    tests(
        "MainActor", ["PersistentPreferences", "PrefsKeys", "PrefsLayers", "PrefsSettingsFiles", "PrefsStoreKit"],
        settings: strict + [.defaultIsolation(MainActor.self)]),
    // The folder of the second one is a link to that of the first: both language modes compile the same files.
    tests("DropIn", ["RVS_PersistentPrefs"], settings: strict + mayWarn),
    tests("DropInSwift5", ["RVS_PersistentPrefs"], settings: [.swiftLanguageMode(.v5)] + mayWarn),
]

let package = Package(
    name: "PersistentPreferences",
    platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [
        "PersistentPreferences", "PrefsDocuments", "PrefsJSON", "PrefsLayers", "PrefsKeys", "PrefsSettingsFiles",
        "PrefsUI", "PrefsEtcd",
        "PrefsStoreKit", "PrefsTool", "PrefsTesting", "RVS_PersistentPrefs",
    ].map { .library(name: $0, targets: [$0]) } + [.executable(name: "prefs", targets: ["HarnessCLI"])],
    targets: libraries + programs + helpers + testTargets,
    swiftLanguageModes: [.v6]
)

// With PREFS_ONLY=ObservationTests, there is nothing but this target and what it needs: after a change of the library,
// `Scripts/test.sh --only ObservationTests` compiles no other test and no tool. It may also be several targets, as in "BaseTests TypedTests".
if let only = Context.environment["PREFS_ONLY"] {
    var needed: Set<String> = []
    func need(_ name: String) {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            return
        }
        for dependency in target.dependencies {
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): need(name)
            default: break
            }
        }
    }
    for name in only.split(whereSeparator: \.isWhitespace) { need(String(name)) }
    package.targets.removeAll { !needed.contains($0.name) }
    // The tool is found by its name.
    package.products.removeAll { !needed.contains("HarnessCLI") || $0.name != "prefs" }
}
