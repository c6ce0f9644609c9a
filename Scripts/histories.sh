#!/usr/bin/env bash
# Records what four processes read and write at once and checks it for linearizability, with 20 seeds if not told.
# PREFS_SEED is the first of them.
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
