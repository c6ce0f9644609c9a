#!/usr/bin/env bash
# Formats all Swift sources with the toolchain's swift-format; with --lint only says what it would complain of.
set -euo pipefail
cd "$(dirname "$0")/.."

sources=(Package.swift Sources HarnessCLI Tests)
case "${1:-}" in
    --lint) swift format lint --strict --recursive --parallel "${sources[@]}" ;;
    "") swift format --in-place --recursive --parallel "${sources[@]}" ;;
    *)
        echo "usage: Scripts/format.sh [--lint]" >&2
        exit 64
        ;;
esac
