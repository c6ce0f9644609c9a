#!/usr/bin/env bash
# Makes each system call of each kind of write fail with each error, and checks every state of the disk that a power cut may leave.
# usage: Scripts/faults.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || usage
echo "== failing system calls and power cuts"
PREFS_FAULTS=10 PREFS_CRASHES=1 exec Scripts/run-hazard.sh "\\.(Crash|Interleaving|FaultTests|RecoveryFault)"
