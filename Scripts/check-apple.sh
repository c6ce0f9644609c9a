#!/usr/bin/env bash
# Type-checks the code for Apple platforms. On a Mac that is a build. Elsewhere nothing of it can run; but the compiler can be
# made to see Objective-C, and Scripts/apple-stubs declares what is used of Apple's modules, after their documentation. Writes
# into a temporary folder only.
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
    swift build
    exit
fi

stubs=Scripts/apple-stubs
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
log="$folder/log"

plugins="$(swiftc -print-target-info | sed -nE 's|.*"runtimeResourcePath": "(.*)".*|\1|p')/host/plugins"

# As in Package.swift. os(Linux) stays true: files for Linux are left out by their names.
flags=(
    -swift-version 6 -parse-as-library -package-name persistentpreferences -module-cache-path "$folder/cache"
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -I "$stubs/Darwin" -I "$folder" -plugin-path "$plugins"
)
# A compiler whose standard library has no Objective-C refuses, under this flag, wherever something becomes a pointer.
objc=(-enable-objc-interop -I "$stubs/ObjectiveC")

# Runs the compiler's frontend. Warnings are errors, but for one: NSObject, which is in Foundation there, is a stub here.
check() { # arguments
    local code=0
    swiftc -frontend "${flags[@]}" "$@" >"$log" 2>&1 || code=$?
    if [ $code -ne 0 ] ||
        grep '^[^ ].* warning: ' "$log" | grep -v "public import of 'Foundation' was not used in public declarations"; then
        cat "$log" >&2
        exit 1
    fi
}

# The sources of a module, one a line.
sources() {
    find "Sources/$1" -name '*.swift' ! -name '*+Linux.swift' | sort
}

mapfile -t library < <(sources PersistentPreferences)
library+=("$stubs/Foundation.swift")
mapfile -t dropIn < <(sources RVS_PersistentPrefs)
mapfile -t testSet < <(sources PrefsTestSet)

check -emit-module -module-name SwiftUI -o "$folder/SwiftUI.swiftmodule" "$stubs/SwiftUI.swift"

echo "== the library with Darwin and SwiftUI: ${#library[@]} files"
check -typecheck -module-name PersistentPreferences "${library[@]}"

mapfile -t observing < <(grep -l 'canImport(ObjectiveC)' "${library[@]}")
echo "== the library with Objective-C, too: ${observing[*]##*/}"
primary=()
for file in "${observing[@]}"; do primary+=(-primary-file "$file"); done
mapfile -t others < <(grep -L 'canImport(ObjectiveC)' "${library[@]}")
check "${objc[@]}" -typecheck -module-name PersistentPreferences "${primary[@]}" "${others[@]}"

echo "== what imports it: the drop-in, the test set, a sample"
module() { # module, arguments
    check "${objc[@]}" -emit-module -module-name "$1" -o "$folder/$1.swiftmodule" "${@:2}"
}
module PersistentPreferences -experimental-skip-all-function-bodies "${library[@]}"
module RVS_PersistentPrefs "${dropIn[@]}"
module PrefsTestSet "${testSet[@]}"
check "${objc[@]}" -typecheck -module-name Sample "$stubs/Sample.swift"

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

echo "== the code for Apple platforms type-checks"
