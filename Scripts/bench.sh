#!/usr/bin/env bash
# Measures this package and compares it with alternatives. Runs in a temporary folder with its own home folder.
# usage: Scripts/bench.sh [GROUP …] [--filter TEXT] [--rounds N] [--json] [--list]
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== building the benchmarks" >&2
swift build -c release --product Benchmarks -Xswiftc -warnings-as-errors >&2
exec "$(swift build -c release --show-bin-path)/Benchmarks" "$@"
