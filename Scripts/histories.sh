#!/usr/bin/env bash
# Records what four processes read and write at once and checks it for linearizability: Scripts/histories.sh [seeds], 20
# if not told. PREFS_SEED is the first of them.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! PREFS_HISTORIES="${1:-20}" swift test --filter HistoryTests --filter LinearizabilityCheckerTests >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
grep '^hazard: histories:' "$log"
