#!/usr/bin/env bash
# Measures what a package costs the program that uses it: the processor time of a clean release build, and the size of the stripped program.
# The program reads five settings and prints them: with plain UserDefaults; with this package and a property list; with PrefsJSON and
# PrefsLayers; with PrefsEtcd. Given a clone of swift-configuration that builds, also with that and a JSON file. Prints a row of the table in
# the article BesideOtherLibraries for each. Works in a temporary folder. Takes five minutes.
# usage: Scripts/costs.sh [CLONE]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || { [ $# -eq 1 ] && [ -f "$1/Package.swift" ]; } || usage
package="$PWD"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# Builds a program and prints its row.
row() { # name, folder of the package that it uses or nothing, products; its text is the input
    local program="$folder/$RANDOM" dependency="" products="" product time
    mkdir -p "$program/Sources/Program"
    cat >"$program/Sources/Program/main.swift"
    if [ -n "$2" ]; then dependency=".package(name: \"used\", path: \"$2\")"; fi
    for product in $3; do products+=".product(name: \"$product\", package: \"used\"), "; done
    cat >"$program/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "Program", platforms: [.macOS(.v15)], dependencies: [$dependency],
    targets: [.executableTarget(name: "Program", dependencies: [$products])])
END
    TIMEFORMAT='%U %S'
    time="$({ time swift build --package-path "$program" -c release >"$folder/log" 2>&1; } 2>&1)" || { cat "$folder/log" >&2; exit 1; }
    strip "$program/.build/release/Program" -o "$folder/stripped"
    awk -v name="$1" -v size="$(stat -c %s "$folder/stripped")" \
        '{ printf "| %s | %.1f s | %.2f MB |\n", name, $1 + $2, size / 1e6 }' <<<"$time"
}

# A program that reads five properties. The input is what is special about it.
properties() { # imports, store
    for module in Foundation PersistentPreferences $1; do echo "import $module"; done
    cat <<END
final class Settings: Prefs, @unchecked Sendable {
    @Pref var port = 80
    @Pref var name = "a"
    @Pref var ratio = 0.5
    @Pref var isOn = false
    @Pref var hosts = ["a"]
    override class var store: PrefsStore { $2 }
}
let settings = Settings()
print(settings.port, settings.name, settings.ratio, settings.isOn, settings.hosts)
END
}

row "plain \`UserDefaults\`" "" "" <<'END'
import Foundation
let settings = UserDefaults.standard
print(settings.integer(forKey: "port"), settings.string(forKey: "name") ?? "a", settings.double(forKey: "ratio"))
print(settings.bool(forKey: "isOn"), settings.stringArray(forKey: "hosts") ?? ["a"])
END
if [ $# -eq 1 ]; then
    row "swift-configuration, a JSON file" "$(realpath "$1")" Configuration <<'END'
import Configuration
let settings = ConfigReader(provider: try await FileProvider<JSONSnapshot>(filePath: "settings.json"))
print(settings.int(forKey: "port", default: 80), settings.string(forKey: "name", default: "a"))
print(settings.double(forKey: "ratio", default: 0.5), settings.bool(forKey: "isOn", default: false))
print(settings.stringArray(forKey: "hosts", default: ["a"]))
END
fi
row "this package, a property-list file" "$package" PersistentPreferences < <(properties "" ".userDefaults()")
row "… with \`PrefsJSON\` and \`PrefsLayers\`" "$package" "PersistentPreferences PrefsJSON PrefsLayers" < <(properties "PrefsJSON PrefsLayers" \
    '.layered(.json(program: "program"), above: [.arguments(), .environment(prefix: "PROGRAM_")])')
row "… with \`PrefsEtcd\`" "$package" "PersistentPreferences PrefsEtcd" < <(properties PrefsEtcd \
    '.etcd(endpoints: [URL(string: "http://127.0.0.1:2379")!], prefix: "program")')
