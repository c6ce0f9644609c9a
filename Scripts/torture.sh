#!/usr/bin/env bash
# Kills writers with SIGKILL at random moments and counts what is lost: Scripts/torture.sh [kills], 1,000 if not told.
# PREFS_SEED chooses other moments.
set -euo pipefail
PREFS_KILLS="${1:-1000}" exec "$(dirname "$0")/run-hazard.sh" KillTortureTests
