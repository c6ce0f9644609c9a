#!/usr/bin/env bash
# Records what four processes read and write at once and checks it for linearizability: Scripts/histories.sh [seeds], 20
# if not told. PREFS_SEED is the first of them.
set -euo pipefail
PREFS_HISTORIES="${1:-20}" exec "$(dirname "$0")/run-hazard.sh" "HistoryTests|LinearizabilityCheckerTests"
