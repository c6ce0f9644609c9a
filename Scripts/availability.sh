#!/usr/bin/env bash
# Fails if the package uses a symbol that is newer than its deployment targets in Package.swift. Combines the availability of each
# symbol (symbol graphs) with the symbols that each file uses (the index store of a debug build); the toolchain has both on every
# platform. Code in `#if os(Linux)` may use newer ones. Does not understand `#available`, which the package does not use. On a Mac, the
# compiler checks all of this and more.
# Does not find: C declarations, and symbols of Foundation on Linux that state no version (both are counted); the availability of a
# conformance; language features that need a newer runtime.
# usage: Scripts/availability.sh [--sources FOLDER] [INDEX …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

folder=$PWD
if [ "${1-}" = --sources ]; then
    [ -d "${2-}" ] || usage
    folder=$2
    shift 2
fi
for index in "$@"; do [ -d "$index" ] || usage; done
[ $# -gt 0 ] || set -- .build/debug/index/store

info="$(swiftc -print-target-info)"
resources="$(sed -nE 's|.*"runtimeResourcePath": "(.*)".*|\1|p' <<<"$info")"
triple="$(sed -nE 's|.*"triple": "(.*)".*|\1|p' <<<"$info" | head -n 1)"
libraries="${resources%/*}"
if [ ! -e "$libraries/libIndexStore.so" ]; then
    echo "availability: skipped, this toolchain has no libIndexStore"
    exit 0
fi

# The program and the symbol graphs are created once for each toolchain and each version of the program.
cache=.build/availability/$({
    echo "$info"
    cat Scripts/availability/*
} | cksum | cut -d ' ' -f 1)
mkdir -p .build/availability
exec 9>.build/availability/lock
flock 9
if [ ! -d "$cache" ]; then
    made="$(mktemp -d .build/availability/new.XXXXXX)"
    trap 'rm -rf "$made"' EXIT
    swiftc -O -wmo -swift-version 6 -parse-as-library -warnings-as-errors -I Scripts/availability -L "$libraries" \
        -Xlinker -rpath -Xlinker "$libraries" Scripts/availability/*.swift -o "$made/availability" &
    for module in "$resources"/linux/*.swiftmodule; do
        module="${module##*/}"
        # These modules need C++.
        if [[ $module == Cxx* ]]; then continue; fi
        swift symbolgraph-extract -module-name "${module%.swiftmodule}" -target "$triple" -I "$resources" \
            -minimum-access-level public -skip-synthesized-members -output-dir "$made" -module-cache-path "$made/modules"
    done
    wait $!
    rm -rf "$made/modules"
    mv "$made" "$cache"
fi
exec 9>&-

targets=($(grep -oE '\.(macOS|iOS|tvOS|watchOS|visionOS)\(\.v[0-9]+\)' Package.swift | sed -E 's/\.(.*)\(\.v(.*)\)/\1=\2/'))
"$cache/availability" "$folder" "$cache" "$@" -- "${targets[@]}"
