#!/usr/bin/env bash
# Records the reads and writes of four concurrent processes and checks that they are linearizable, for a number of seeds, 20 by default.
# PREFS_SEED is the first seed.
# usage: Scripts/histories.sh [SEEDS]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -le 1 && "${1-1}" =~ ^[0-9]+$ ]] || usage
echo "== histories of four processes, ${1:-20} seeds"
PREFS_HISTORIES="${1:-20}" exec Scripts/run-hazard.sh "HistoryTests|LinearizabilityCheckerTests"
