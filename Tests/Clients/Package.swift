// swift-tools-version: 6.2
import PackageDescription

/// The package of a client, which depends on this one by git URL. `Scripts/check-clients.sh` copies it to a temporary
/// folder, gives it the URL and the revision, and puts the sources in `Shared` into each target that is a mode.
let url = Context.environment["PREFS_URL"] ?? ""
let revision = Context.environment["PREFS_REVISION"] ?? ""

/// Warnings are errors in the client's own targets.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// What a new app in Xcode has: the main actor by default, and "approachable concurrency".
let newApp: [SwiftSetting] = [
    .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func products(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "PersistentPreferences") }
}

let library = products(
    "PersistentPreferences", "PrefsJSON", "PrefsKeys", "PrefsLayers", "PrefsSettingsFiles", "PrefsStoreKit",
    "RVS_PersistentPrefs")

func mode(_ name: String, _ settings: [SwiftSetting]) -> Target {
    .executableTarget(
        name: name, dependencies: library + ["TestSupport", "Words"], swiftSettings: strict + settings)
}

/// A program and a library that it loads, each with a copy of the package.
let copies: [Target] = [
    .target(name: "Plugin", dependencies: library, path: "Copies/Plugin", swiftSettings: strict),
    .executableTarget(
        name: "TwoCopies", dependencies: library, path: "Copies/TwoCopies",
        swiftSettings: strict + [.swiftLanguageMode(.v6)]),
]

let modes: [Target] = [
    mode("Swift5", [.swiftLanguageMode(.v5)]),
    mode("Swift6", [.swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility")]),
    mode("MainActorSwift5", newApp + [.swiftLanguageMode(.v5)]),
    mode("MainActorSwift6", newApp + [.swiftLanguageMode(.v6)]),
    // Names that targets of the package have, too. No product of the package reaches those.
    .target(name: "TestSupport", path: "Names/TestSupport"),
    .target(name: "Words", path: "Names/Words"),
    .executableTarget(
        name: "Tool", dependencies: library + products("PrefsTool"),
        path: "Tool", swiftSettings: strict),
    .executableTarget(
        name: "InternalImport", dependencies: library, path: "Evolution/InternalImport",
        swiftSettings: strict + [.unsafeFlags(["-enable-library-evolution"])]),
]

/// Needs library evolution in the package, too, because the package's types are in the interface of a client's module.
let evolution: [Target] = [
    .target(name: "Framework", dependencies: library, path: "Evolution/Framework", swiftSettings: strict),
    .executableTarget(
        name: "FrameworkUser", dependencies: library + ["Framework"], path: "Evolution/FrameworkUser",
        swiftSettings: strict),
]

let package = Package(
    name: "Clients",
    platforms: [.macOS(.v14)],
    products: Context.environment["PREFS_EVOLUTION"] == nil
        ? [.library(name: "Plugin", type: .dynamic, targets: ["Plugin"])] : [],
    dependencies: [.package(url: url, revision: revision)],
    targets: Context.environment["PREFS_EVOLUTION"] == nil ? modes + copies : evolution
)
