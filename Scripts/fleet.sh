#!/usr/bin/env bash
# Runs the tests of EtcdStore in full, on etcd nodes of its own: processes on one node, and histories of four processes while so many
# failures of three nodes, 40 by default, and faults of the network are caused. PREFS_SEED is the seed.
# usage: Scripts/fleet.sh [FAILURES]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -le 1 && "${1-1}" =~ ^[0-9]+$ ]] || usage
echo "== a fleet, ${1:-40} failures"
Scripts/tools.sh
PREFS_FLEET_ROUNDS="${1:-40}" PREFS_FLEET_PAUSE=6000 PREFS_FLEET_FAULTS=8 PREFS_FLEET_UPDATES=250 PREFS_FLEET_UNKNOWN=500 exec Scripts/run-hazard.sh EtcdTests
