#!/usr/bin/env bash
# Kills writers with SIGKILL at random moments and counts what is lost: Scripts/torture.sh [kills], 1,000 if not told.
# PREFS_SEED chooses other moments.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! PREFS_KILLS="${1:-1000}" swift test --filter KillTortureTests >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
grep '^hazard: torture:' "$log"
