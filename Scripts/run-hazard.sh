#!/usr/bin/env bash
# Runs the hazard tests whose names match, and prints their summary lines; everything they say, where one fails. Amounts
# come through the environment; the other scripts set them.
# usage: Scripts/run-hazard.sh FILTER
#
# The files lie on a disk: in PREFS_TEST_FOLDER, else in the temporary folder. `swift test` alone has them in memory.
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -eq 1 && "$1" != -* ]] || usage

export PREFS_TEST_FOLDER="${PREFS_TEST_FOLDER:-${TMPDIR:-/tmp}}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if ! swift test -Xswiftc -warnings-as-errors --filter "$1" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
grep '^hazard: ' "$log"
