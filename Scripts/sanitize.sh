#!/usr/bin/env bash
# Runs the tests under ThreadSanitizer, which must stay silent; with nothing of ours suppressed.
# A build folder of its own, so that ordinary builds stay warm.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== tests under ThreadSanitizer"
# Children inherit the options: a race in one of them fails its test by the exit code.
TSAN_OPTIONS="halt_on_error=1 exitcode=66" \
    swift test --sanitize=thread --scratch-path .build/sanitize-thread "$@"
echo "== ThreadSanitizer was silent"
