#!/usr/bin/env bash
# Formats all Swift sources with the toolchain's swift-format; with --lint, only reports violations.
# usage: Scripts/format.sh [--lint]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

sources=(Package.swift Sources HarnessCLI Tests Scripts/availability)
case "$*" in
    --lint) swift format lint --strict --recursive --parallel "${sources[@]}" ;;
    "") swift format --in-place --recursive --parallel "${sources[@]}" ;;
    *) usage ;;
esac
