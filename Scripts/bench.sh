#!/usr/bin/env bash
# Measures this package and compares it with alternatives. Runs in a temporary folder with its own home folder.
# usage: Scripts/bench.sh [GROUP …] [--filter TEXT] [--rounds N] [--list]
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== building the benchmarks" >&2
swift build -c release --product Benchmarks -Xswiftc -warnings-as-errors >&2
program="$(swift build -c release --show-bin-path)/Benchmarks"
# A process reads its home at its start.
parent="${PREFS_TEST_FOLDER:-/dev/shm}"
[ -d "$parent" ] || parent="${TMPDIR:-/tmp}"
folder="$(mktemp -d "$parent/prefs-XXXXXX")"
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/home"
PREFS_BENCHMARKS="$folder" HOME="$folder/home" XDG_CONFIG_HOME="$folder/home/.config" CFFIXED_USER_HOME="$folder/home" \
    "$program" "$@"
