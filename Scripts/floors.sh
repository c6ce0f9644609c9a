#!/usr/bin/env bash
# Fails if a file of a target needs one of a floor above its own, by the index store of a debug build: functions and members count, not only
# names of types. Scripts/floors/TARGET.txt lists the floors, the lowest first, and the references upwards that stand; one that is gone has to
# leave the list. Inside a floor, files that need each other may have 900 lines together, or as many as stand in the list; a file may have
# 450. Files of Apple platforms are not in the index.
# usage: Scripts/floors.sh [TARGET …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

for target in "$@"; do [ -f "Scripts/floors/$target.txt" ] || usage; done
if [ $# -eq 0 ]; then
    for list in Scripts/floors/*.txt; do set -- "$@" "$(basename "$list" .txt)"; done
fi

info="$(swiftc -print-target-info)"
resources="$(sed -nE 's|.*"runtimeResourcePath": "(.*)".*|\1|p' <<<"$info")"
libraries="${resources%/*}"
if [ ! -e "$libraries/libIndexStore.so" ]; then
    echo "floors: skipped, this toolchain has no libIndexStore"
    exit 0
fi

# The program is made once for each toolchain and each version of it.
sources=(Scripts/floors/Floors.swift Scripts/availability/Index.swift)
program=.build/floors/$({
    echo "$info"
    cat "${sources[@]}"
} | cksum | cut -d ' ' -f 1)
mkdir -p .build/floors
if [ ! -e "$program" ]; then
    made="$(mktemp -d .build/floors/new.XXXXXX)"
    trap 'rm -rf "$made"' EXIT
    swiftc -O -wmo -swift-version 6 -parse-as-library -warnings-as-errors -I Scripts/availability -L "$libraries" \
        -Xlinker -rpath -Xlinker "$libraries" "${sources[@]}" -o "$made/floors"
    mv "$made/floors" "$program"
fi
"$program" "$PWD" .build/debug/index/store "$@"
