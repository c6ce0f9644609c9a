#!/usr/bin/env bash
# Runs the hazard tests whose names match, and prints their summary lines; everything they say, where one fails. Amounts
# come through the environment; the other scripts set them.
# usage: Scripts/run-hazard.sh FILTER
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -eq 1 && "$1" != -* ]] || usage

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if ! swift test -Xswiftc -warnings-as-errors --filter "$1" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
grep '^hazard: ' "$log"
