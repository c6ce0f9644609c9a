#!/usr/bin/env bash
# Runs a command and prints one line, "ok   NAME (SECONDS s)". If the command fails, prints all of its output, then once more the
# lines that name failed tests and errors, and exits with its code. Of a command that succeeds, prints only what it has skipped and
# the figures of the hazard tests.
# usage: Scripts/step.sh NAME COMMAND [ARGUMENT …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -ge 2 && "$1" != -* ]] || usage

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
code=0
"${@:2}" >"$log" 2>&1 || code=$?
if [ "$code" -ne 0 ]; then
    cat "$log" >&2
    # A run of the tests prints thousands of lines after a failure, and a reader may have the last ones only.
    grep -E '✘|: error: |WARNING: ' "$log" | sort -u | cut -c -500 | head -40 >&2 || true
    echo "FAIL $1" >&2
    exit "$code"
fi
echo "ok   $1 ($SECONDS s)"
grep -E '^hazard: |^[a-z]+: .*skip(s|ped)' "$log" | sed 's/^/     /' || true
