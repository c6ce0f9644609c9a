#!/usr/bin/env bash
# Runs all tests in their long form, then every hazard test in full; Tests/README.md describes them. The fuzzers run for the given number of seconds, 3,600 by default. Of
# the others, the model takes by far the longest.
# usage: Scripts/hazards.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -le 1 && "${1-1}" =~ ^[0-9]+$ ]] || usage

PREFS_LONG=1 Scripts/test.sh
Scripts/torture.sh
Scripts/histories.sh
Scripts/model.sh
Scripts/faults.sh
Scripts/damage.sh
Scripts/savers.sh
Scripts/homes.sh
Scripts/fleet.sh
Scripts/mutants.sh
Scripts/fuzz.sh "${1:-3600}"
Scripts/sanitize.sh
