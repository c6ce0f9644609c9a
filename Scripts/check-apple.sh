#!/usr/bin/env bash
# Type-checks the code for Apple platforms. On a Mac it builds the package, and the compiler checks everything. Elsewhere it makes the
# compiler believe in Darwin, SwiftUI and Objective-C; Scripts/apple-stubs declares what the package uses of them. Writes only into a
# temporary folder.
# Finds: code with errors or warnings in the files for Apple platforms, in the command-line tool and in Tests/Support;
# isolation and Sendable errors; types of C that differ (a mode is UInt16, a time is in `st_mtimespec`, `posix_spawnattr_t` is a
# pointer); symbols newer than the deployment targets, by Scripts/availability.sh in the index of a debug build, which is made if there is none.
# Does not find: a stub that is wrong (each names its source), symbols that have no stub and no version, what tests use of C outside
# of Tests/Support, `os(Linux)` taken for true, code for 32 bits, and anything that shows only when it runs.
# usage: Scripts/check-apple.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || usage

if [ "$(uname)" = Darwin ]; then
    echo "== build with the SDK of this Mac"
    swift build -Xswiftc -warnings-as-errors
    exit
fi

stubs=Scripts/apple-stubs
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
log="$folder/log"

plugins="$(swiftc -print-target-info | sed -nE 's|.*"runtimeResourcePath": "(.*)".*|\1|p')/host/plugins"

# As in Package.swift. os(Linux) stays true: files for Linux are left out by their names.
flags=(
    -swift-version 6 -package-name persistentpreferences -module-cache-path "$folder/cache"
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -I "$stubs/Darwin" -I "$folder" -plugin-path "$plugins"
)
# With this flag, a compiler whose standard library has no Objective-C rejects every conversion to a pointer.
objc=(-enable-objc-interop -I "$stubs/ObjectiveC")

# Runs the compiler's frontend. Warnings are errors, except for imports of Foundation whose types are stubs here.
check() { # arguments
    local code=0
    swiftc -frontend "${flags[@]}" "$@" >"$log" 2>&1 || code=$?
    if [ $code -ne 0 ] ||
        grep '^[^ ].* warning: ' "$log" | grep -vE "(public|package) import of 'Foundation' was not used"; then
        cat "$log" >&2
        exit 1
    fi
}

# The sources of a module, one a line.
sources() {
    find "Sources/$1" -name '*.swift' ! -name '*+Linux.swift' | sort
}

# Arguments that make the compiler write an index of these files.
indexed() { # source files
    printf '%s\n' "$@" >"$folder/units"
    index=(-index-store-path "$folder/index" -index-unit-output-path-filelist "$folder/units")
}

mapfile -t lists < <(sources PropertyLists)
mapfile -t engine < <(sources FileEngine)
mapfile -t domain < <(sources DefaultsDomain)
mapfile -t library < <(sources PersistentPreferences)
for module in lists engine domain library; do
    declare -n files="$module"
    files+=("$stubs/Foundation.swift" "$stubs/Darwin.swift")
done
mapfile -t storeKit < <(sources PrefsStoreKit)
mapfile -t traits < <(sources PrefsTesting)
mapfile -t dropIn < <(sources RVS_PersistentPrefs)
dropIn+=("$stubs/DropIn.swift")
mapfile -t testSet < <(sources PrefsTestSet)

mapfile -t documents < <(sources PrefsDocuments)
mapfile -t json < <(sources PrefsJSON)
mapfile -t layers < <(sources PrefsLayers)
mapfile -t keys < <(sources PrefsKeys)
mapfile -t settings < <(sources PrefsSettingsFiles)
mapfile -t etcd < <(sources PrefsEtcd)
mapfile -t forSwiftUI < <(sources PrefsUI)

# SwiftUI comes later: the library must compile without it.
check -emit-module -parse-as-library -module-name Combine -o "$folder/Combine.swiftmodule" "$stubs/Combine.swift"

echo "== the library with Darwin: ${#lists[@]} + ${#engine[@]} + ${#library[@]} files"
mkdir "$folder/plain"
plain() { # module, arguments
    check -emit-module -experimental-skip-all-function-bodies -parse-as-library -module-name "$1" -I "$folder/plain" \
        -o "$folder/plain/$1.swiftmodule" "${@:2}"
}
whole() { # module, its sources: all of it is checked, and others can import it
    indexed "${@:2}"
    check -typecheck -parse-as-library -module-name "$1" -I "$folder/plain" "${index[@]}" "${@:2}"
    plain "$@"
}
whole PrefsPropertyLists "${lists[@]}"
whole PrefsFileEngine "${engine[@]}"
whole PrefsDefaultsDomain "${domain[@]}"
whole PersistentPreferences "${library[@]}"
whole PrefsDocuments "${documents[@]}" "$stubs/Darwin.swift"
whole PrefsJSON "${json[@]}" "$stubs/Darwin.swift"
whole PrefsLayers "${layers[@]}" "$stubs/Darwin.swift"
whole PrefsKeys "${keys[@]}" "$stubs/Darwin.swift"
whole PrefsSettingsFiles "${settings[@]}" "$stubs/Darwin.swift"

echo "== with Darwin: the harness, the products for tests and fleets, what the tests share"
plain PrefsTestSet "${testSet[@]}"
mapfile -t tool < <(find Sources/PrefsTool -name '*.swift' ! -name '*+Linux.swift' | sort)
whole PrefsTool "${tool[@]}" "$stubs/Darwin.swift"
whole PrefsEtcd "${etcd[@]}" "$stubs/Darwin.swift"
check -typecheck -module-name HarnessCLI -I "$folder/plain" $(find HarnessCLI -name "*.swift" | sort) "$stubs/Darwin.swift"
whole PrefsStoreKit "${storeKit[@]}" "$stubs/Darwin.swift"
whole PrefsTesting "${traits[@]}"
check -typecheck -parse-as-library -module-name TestSupport -I "$folder/plain" Tests/Support/*.swift "$stubs/Darwin.swift"

module() { # module, arguments
    check "${objc[@]}" -emit-module -parse-as-library -module-name "$1" -o "$folder/$1.swiftmodule" "${@:2}"
}
module PrefsPropertyLists -experimental-skip-all-function-bodies "${lists[@]}"
module PrefsFileEngine -experimental-skip-all-function-bodies "${engine[@]}"
module PrefsDefaultsDomain -experimental-skip-all-function-bodies "${domain[@]}"

echo "== with Objective-C, too: the modules for SwiftUI and Combine, the drop-in with key-value observing, the test set, a sample"
module PersistentPreferences -experimental-skip-all-function-bodies "${library[@]}"
module PrefsDocuments -experimental-skip-all-function-bodies "${documents[@]}"
module PrefsJSON -experimental-skip-all-function-bodies "${json[@]}"
module PrefsLayers -experimental-skip-all-function-bodies "${layers[@]}"
module PrefsKeys -experimental-skip-all-function-bodies "${keys[@]}"
module PrefsSettingsFiles -experimental-skip-all-function-bodies "${settings[@]}"
module SwiftUI "$stubs/SwiftUI.swift"
module PrefsUI "${forSwiftUI[@]}"
indexed "${forSwiftUI[@]}"
check "${objc[@]}" -typecheck -parse-as-library -module-name PrefsUI "${index[@]}" "${forSwiftUI[@]}"
module RVS_PersistentPrefs -experimental-skip-all-function-bodies "${dropIn[@]}"
indexed "${dropIn[@]}"
check "${objc[@]}" -typecheck -parse-as-library -module-name RVS_PersistentPrefs "${index[@]}" "${dropIn[@]}"
module PrefsTestSet "${testSet[@]}"
check "${objc[@]}" -typecheck -parse-as-library -module-name Sample "$stubs/Sample.swift"

# As in DocumentationTests, which leaves these to us: the Swift blocks of an article are one program.
echo "== the articles with SwiftUI in them"
for article in $(grep -lx 'import SwiftUI' Sources/PersistentPreferences/PersistentPreferences.docc/*.md); do
    echo "${article##*/}"
    {
        printf 'import Foundation\nimport PersistentPreferences\n'
        awk -v file="$article" '
            /^```swift$/ { open = 1; printf "#sourceLocation(file: \"%s\", line: %d)\n", file, NR + 1; next }
            /^```$/ && open { open = 0; print "#sourceLocation()" }
            open' "$article"
    } >"$folder/Article.swift"
    check "${objc[@]}" -typecheck -module-name Article "$folder/Article.swift"
    check "${objc[@]}" -default-isolation MainActor -typecheck -module-name Article "$folder/Article.swift"
done

if [ ! -d .build/debug/index/store ]; then
    echo "== a debug build, for its index"
    swift build --build-tests -Xswiftc -warnings-as-errors >"$log" 2>&1 || {
        cat "$log" >&2
        exit 1
    }
fi
echo "== nothing is newer than the deployment targets"
Scripts/availability.sh .build/debug/index/store "$folder/index"

echo "== the code for Apple platforms type-checks"
