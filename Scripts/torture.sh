#!/usr/bin/env bash
# Kills writers with SIGKILL at random moments and counts lost writes; 1,000 kills by default. PREFS_SEED chooses other moments.
# usage: Scripts/torture.sh [KILLS]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -le 1 && "${1-1}" =~ ^[0-9]+$ ]] || usage
echo "== ${1:-1000} kills"
PREFS_KILLS="${1:-1000}" exec Scripts/run-hazard.sh KillTortureTests
