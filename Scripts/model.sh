#!/usr/bin/env bash
# Runs random sequences of operations beside a plain dictionary, and stops at the first difference, made short:
# Scripts/model.sh [seeds], 5,000 if not told. To repeat one of them: PREFS_MODEL_SEED=n swift test --filter ModelTests
set -euo pipefail
PREFS_MODEL_SEEDS="${1:-5000}" exec "$(dirname "$0")/run-hazard.sh" ModelTests
