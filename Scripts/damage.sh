#!/usr/bin/env bash
# Damaged files and hostile surroundings in full: every damage met by every kind of access with every state of the last
# good copy, many meetings of several processes, and means that come to an end: Scripts/damage.sh [meetings], 200 if not
# told.
set -euo pipefail
PREFS_DAMAGE=18 PREFS_DAMAGE_GARBAGE=2000 PREFS_DAMAGE_MEETINGS="${1:-200}" \
    exec "$(dirname "$0")/run-hazard.sh" 'Damage|Unreadable|Surroundings|Fork|\.LimitsTests'
