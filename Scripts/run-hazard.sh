#!/usr/bin/env bash
# Runs the hazard tests whose names match and prints their summary lines. If one fails, prints all output. The other scripts set the
# amounts in the environment.
# usage: Scripts/run-hazard.sh FILTER
#
# The files are on a disk: in PREFS_TEST_FOLDER or in the temporary folder. With `swift test` alone they are in memory.
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -eq 1 && "$1" != -* ]] || usage

export PREFS_TEST_FOLDER="${PREFS_TEST_FOLDER:-${TMPDIR:-/tmp}}"
export PREFS_LONG=1
# A wait may last for a whole long form.
export PREFS_TEST_PATIENCE="${PREFS_TEST_PATIENCE:-86400}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if ! swift test -Xswiftc -warnings-as-errors --filter "$1" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
grep '^hazard: ' "$log"
