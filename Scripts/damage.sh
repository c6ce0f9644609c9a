#!/usr/bin/env bash
# Tests damaged files and hostile surroundings in full: every damage with every kind of access and every state of the last good copy, a
# number of meetings of several processes (200 by default), and exhausted resources.
# usage: Scripts/damage.sh [MEETINGS]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ $# -le 1 && "${1-1}" =~ ^[0-9]+$ ]] || usage
echo "== damaged files and hostile surroundings, ${1:-200} meetings of processes"
PREFS_DAMAGE=36 PREFS_DAMAGE_GARBAGE=2000 PREFS_DAMAGE_MEETINGS="${1:-200}" PREFS_FORKS=400 \
    exec Scripts/run-hazard.sh 'Damage|Unreadable|Surroundings|Fork|OtherUsers|AttributeTests|\.LimitsTests'
