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
    let (privacy, leftOut): ([Resource], [String]) = (
        [.copy("PersistentPreferences/PrivacyInfo.xcprivacy")], [String]()
    )
#else
    let (privacy, leftOut): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
#endif

/// The tests of one area of the library.
func areaTests(_ area: String, _ others: Target.Dependency..., resources: [Resource] = []) -> Target {
    .testTarget(
        name: "\(area)Tests",
        dependencies: [
            "EngineSupport", "PersistentPreferences", "PrefsSupport", "PrefsTestSet", "PropertyListSupport",
            "TestSupport", "WriteOperations",
        ] + others, path: "Tests/PersistentPreferencesTests/\(area)", resources: resources, swiftSettings: strict)
}

let package = Package(
    name: "PersistentPreferences",
    platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [
        .library(name: "PersistentPreferences", targets: ["PersistentPreferences"]),
        .library(name: "PersistentPreferencesUI", targets: ["PersistentPreferencesUI"]),
        .library(name: "PrefsTool", targets: ["PrefsTool"]),
        .library(name: "PersistentPreferencesEtcd", targets: ["PersistentPreferencesEtcd"]),
        .library(name: "PrefsTesting", targets: ["PrefsTesting"]),
        .library(name: "RVS_PersistentPrefs", targets: ["RVS_PersistentPrefs"]),
        .executable(name: "prefs", targets: ["HarnessCLI"]),
    ],
    targets: [
        .target(name: "PrefsPropertyLists", path: "Sources/PropertyLists", swiftSettings: strict),
        .target(
            name: "PrefsFileEngine", dependencies: ["PrefsPropertyLists"], path: "Sources/FileEngine",
            swiftSettings: strict),
        .target(
            name: "PersistentPreferences", dependencies: ["PrefsFileEngine", "PrefsPropertyLists"], exclude: leftOut,
            resources: privacy, swiftSettings: strict),
        .target(
            name: "PersistentPreferencesUI", dependencies: ["PersistentPreferences"], swiftSettings: strict),
        .target(
            name: "PersistentPreferencesEtcd", dependencies: ["PersistentPreferences", "PrefsFileEngine"],
            swiftSettings: strict),
        .target(
            name: "RVS_PersistentPrefs", dependencies: ["PersistentPreferences"], swiftSettings: strict),
        .target(
            name: "PrefsStoreChecks", dependencies: ["PersistentPreferences", "PrefsPropertyLists"],
            path: "Sources/PrefsTesting/StoreChecks", swiftSettings: strict),
        .target(
            name: "PrefsTesting", dependencies: ["PersistentPreferences", "PrefsStoreChecks"],
            path: "Sources/PrefsTesting/Traits", swiftSettings: strict),
        .target(name: "PrefsTestSet", dependencies: ["PersistentPreferences"], swiftSettings: strict),
        .target(
            name: "PrefsTool", dependencies: ["PersistentPreferences", "PrefsFileEngine", "PrefsPropertyLists"],
            swiftSettings: strict),
        .executableTarget(
            name: "HarnessCLI",
            dependencies: ["PersistentPreferences", "PersistentPreferencesEtcd", "PrefsTestSet", "PrefsTool"],
            path: "HarnessCLI", swiftSettings: strict),
        .executableTarget(
            name: "Words", dependencies: ["PersistentPreferences"], path: "Sources/Examples/Words",
            swiftSettings: strict),
        .executableTarget(
            name: "Pulse", dependencies: ["PersistentPreferences"], path: "Sources/Examples/Pulse",
            swiftSettings: strict),
        .executableTarget(
            name: "Greeter", dependencies: ["PersistentPreferences"], path: "Sources/Examples/Greeter",
            swiftSettings: strict),
        .executableTarget(
            name: "Fleet", dependencies: ["PersistentPreferences", "PersistentPreferencesEtcd"],
            path: "Sources/Examples/Fleet", swiftSettings: strict),
        .executableTarget(
            name: "Sketch", dependencies: ["PersistentPreferences", "PrefsTool"], path: "Sources/Examples/Sketch",
            swiftSettings: strict),
        .target(name: "TestSupport", path: "Tests/Support", swiftSettings: strict),
        .target(
            name: "AppleVnodes", dependencies: ["PrefsFileEngine"], path: "Tests/AppleModels/Vnodes",
            swiftSettings: strict),
        .target(
            name: "AppleModels", dependencies: ["PersistentPreferences"], path: "Tests/AppleModels/Defaults",
            swiftSettings: strict),
        .target(
            name: "PropertyListSupport", dependencies: ["PrefsPropertyLists", "TestSupport"],
            path: "Tests/PropertyListSupport", swiftSettings: strict),
        // Has no tests. A test target, because its system calls are subclasses of the engine's, which takes `@testable import` here and
        // where they are used; a release build of an ordinary target does not allow it.
        .testTarget(
            name: "EngineSupport", dependencies: ["AppleVnodes", "PrefsFileEngine", "TestSupport"],
            swiftSettings: strict),
        // Every way to write, as clients write: over the public module alone.
        .target(
            name: "WriteOperations", dependencies: ["PersistentPreferences"], path: "Tests/WriteOperations",
            swiftSettings: strict),
        .executableTarget(
            name: "Probe",
            dependencies: [
                "PersistentPreferences", "PrefsFileEngine", "PrefsStoreChecks", "RVS_PersistentPrefs", "TestSupport",
                "WriteOperations",
            ],
            path: "Tests/Probe", swiftSettings: strict),
        .executableTarget(
            name: "Benchmarks", dependencies: ["PersistentPreferences", "TestSupport"], path: "Tests/Benchmarks",
            exclude: ["README.md", "thresholds.txt"], swiftSettings: strict),
        .executableTarget(name: "RawDefaults", path: "Tests/RawDefaults", swiftSettings: strict),
        .testTarget(
            name: "PropertyListsTests", dependencies: ["PrefsPropertyLists", "PropertyListSupport", "TestSupport"],
            resources: [.copy("Resources/plain_form.py")], swiftSettings: strict),
        .testTarget(
            name: "FileEngineTests",
            dependencies: [
                "AppleVnodes", "EngineSupport", "PrefsFileEngine", "PrefsPropertyLists", "PropertyListSupport",
                "TestSupport",
            ], resources: [.copy("Corpus"), .copy("Damaged")], swiftSettings: strict),
        // The library in one process, through its public classes: one target for each area, so that a change of one suite does not
        // compile the others. PrefsSupport has no tests, as EngineSupport.
        .testTarget(
            name: "PrefsSupport",
            dependencies: [
                "EngineSupport", "PersistentPreferences", "PrefsTestSet", "PropertyListSupport", "TestSupport",
                "WriteOperations",
            ], path: "Tests/PersistentPreferencesTests/Support", swiftSettings: strict),
        areaTests("Base", "PrefsTesting"),
        areaTests("Typed", resources: [.copy("Resources/FirstEdition"), .copy("Resources/TypeSafeDefaults.plist")]),
        areaTests("Observation", "AppleModels"),
        areaTests("Stores", "AppleModels", "PrefsTesting"),
        areaTests(
            "Settings",
            resources: [
                .copy("Resources/Quotes.plist"), .copy("Resources/PlayerSettings.plist"),
                .copy("Resources/ShopSettings.plist"),
            ]),
        areaTests("Hazards", "AppleModels", resources: [.copy("Corpus")]),
        areaTests("Sources", "PrefsTesting"),
        // A store as clients write it: the public modules and nothing else.
        .testTarget(
            name: "RemoteTests", dependencies: ["PersistentPreferences", "PrefsTesting"],
            path: "Tests/PersistentPreferencesTests/Remote", swiftSettings: strict),
        .testTarget(
            name: "PrefsTestingTests",
            dependencies: ["PersistentPreferences", "PrefsTesting", "Probe", "TestSupport", "Words"],
            swiftSettings: strict),
        .executableTarget(
            name: "EtcdProbe", dependencies: ["PersistentPreferences", "PersistentPreferencesEtcd", "TestSupport"],
            path: "Tests/EtcdProbe", swiftSettings: strict),
        .testTarget(
            name: "EtcdTests",
            dependencies: [
                "EtcdProbe", "Fleet", "HarnessCLI", "PersistentPreferences", "PersistentPreferencesEtcd",
                "PrefsPropertyLists", "PrefsTesting", "TestSupport",
            ], swiftSettings: strict),
        .testTarget(
            name: "HarnessTests",
            dependencies: [
                "EngineSupport", "HarnessCLI", "PersistentPreferences", "PrefsFileEngine", "PrefsSupport",
                "PrefsTestSet", "PrefsTool", "RawDefaults", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ProcessTests",
            dependencies: [
                "PersistentPreferences", "PrefsFileEngine", "PrefsStoreChecks", "Probe", "RawDefaults", "TestSupport",
                "WriteOperations",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ExampleTests", dependencies: ["Greeter", "HarnessCLI", "Pulse", "Sketch", "TestSupport", "Words"],
            swiftSettings: strict),
        .testTarget(
            name: "MainActorTests", dependencies: ["PersistentPreferences"],
            swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "DropInTests", dependencies: ["RVS_PersistentPrefs"], swiftSettings: strict + mayWarn),
        .testTarget(
            name: "DropInSwift5Tests", dependencies: ["RVS_PersistentPrefs"],
            swiftSettings: [.swiftLanguageMode(.v5)] + mayWarn),
    ],
    swiftLanguageModes: [.v6]
)

// With PREFS_ONLY=ObservationTests, there is nothing but this target and what it needs: after a change of the library,
// `Scripts/test.sh --only ObservationTests` compiles no other test and no tool.
if let only = Context.environment["PREFS_ONLY"] {
    var needed: Set<String> = []
    func need(_ name: String) {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            return
        }
        for case .byNameItem(let name, _) in target.dependencies { need(name) }
    }
    need(only)
    package.targets.removeAll { !needed.contains($0.name) }
    // The tool is found by its name.
    package.products.removeAll { !needed.contains("HarnessCLI") || $0.name != "prefs" }
}
