#!/usr/bin/env bash
# Makes each system call of each kind of write fail with each error, and looks at every disk that a power cut may leave.
set -euo pipefail
PREFS_FAULTS=10 PREFS_CRASHES=1 exec "$(dirname "$0")/run-hazard.sh" "\\.(Crash|Interleaving|FaultTests|RecoveryFault)"
