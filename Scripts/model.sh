#!/usr/bin/env bash
# Compares random sequences of operations with a plain dictionary, 5,000 by default. Stops at the first difference and shortens its
# sequence. To repeat a sequence: PREFS_MODEL_SEED=n swift test --filter ModelTests
# usage: Scripts/model.sh [SEEDS]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -le 1 && "${1-1}" =~ ^[0-9]+$ ]] || usage
echo "== random operations beside a dictionary, ${1:-5000} seeds"
PREFS_MODEL_SEEDS="${1:-5000}" exec Scripts/run-hazard.sh ModelTests
