#!/usr/bin/env bash
# Every hazard proof in full, one after the other; Tests/README.md tells what each does. The fuzzers take as many seconds
# as given, 3,600 if not told; of the others the model takes longest, by far.
# usage: Scripts/hazards.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -le 1 && "${1-1}" =~ ^[0-9]+$ ]] || usage

Scripts/torture.sh
Scripts/histories.sh
Scripts/model.sh
Scripts/faults.sh
Scripts/damage.sh
Scripts/mutants.sh
Scripts/fuzz.sh "${1:-3600}"
Scripts/sanitize.sh
