#!/usr/bin/env bash
# Runs random sequences of operations beside a plain dictionary, and stops at the first difference, made short. To repeat
# one of them: PREFS_MODEL_SEED=n swift test --filter ModelTests
set -euo pipefail
cd "$(dirname "$0")/.."

seeds="${1:-5000}"
case "$seeds" in
    "" | *[!0-9]*)
        echo "usage: Scripts/model.sh [seeds]" >&2
        exit 64
        ;;
esac

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
echo "== $seeds sequences beside a dictionary"
if ! PREFS_MODEL_SEEDS="$seeds" swift test --filter 'ModelTests' >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
grep '^hazard: ' "$log"
