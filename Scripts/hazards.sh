#!/usr/bin/env bash
# Every hazard proof in full, one after the other; Tests/README.md tells what each does. The fuzzers take as many seconds
# as given, 3,600 if not told; of the others the model takes longest, by far: Scripts/hazards.sh [seconds]
set -euo pipefail
cd "$(dirname "$0")"

./torture.sh
./histories.sh
./model.sh
./faults.sh
./damage.sh
./mutants.sh
./fuzz.sh "${1:-3600}"
./sanitize.sh
