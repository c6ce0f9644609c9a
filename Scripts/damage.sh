#!/usr/bin/env bash
# Damaged files and hostile surroundings in full: every damage met by every kind of access with every state of the last
# good copy, and many meetings of several processes. Prints the summary lines; some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
status=0
PREFS_DAMAGE=18 PREFS_DAMAGE_GARBAGE=2000 PREFS_DAMAGE_MEETINGS="${1:-200}" \
    swift test --filter 'Damage|Unreadable|Surroundings|Fork' >"$log" 2>&1 || status=$?
grep '^hazard: ' "$log" || true
if [ "$status" -ne 0 ]; then
    grep -A 3 'recorded an issue' "$log" || tail -n 40 "$log"
fi
exit "$status"
