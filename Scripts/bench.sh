#!/usr/bin/env bash
# Measures this package against what a program would otherwise do. Works in a temporary folder with a home of its own.
# usage: Scripts/bench.sh [GROUP …] [--filter TEXT] [--rounds N] [--json] [--list]
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== building the benchmarks" >&2
swift build -c release --product Benchmarks -Xswiftc -warnings-as-errors >&2
exec "$(swift build -c release --show-bin-path)/Benchmarks" "$@"
