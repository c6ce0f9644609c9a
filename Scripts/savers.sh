#!/usr/bin/env bash
# Lets editors and tools save a settings file on a disk while another process reads, writes and observes it: each saver and role with
# four to eight settings of the file, 20 saves each by default, or some savers only (vim, sed.bak, exchange …). Then a quarter of the
# saves beside a busy process for each processor. Prints a line for each saver and role, and fails if a read gave what no state has, an
# entry of the person was lost, or an error was not true. As the superuser on Debian, installs the savers that are missing; otherwise
# says which are skipped.
# usage: Scripts/savers.sh [SAVES [SAVER …]]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[[ "${1-1}" =~ ^[1-9][0-9]*$ && "${2-}" != -* ]] || usage
saves="${1:-20}"
[ $# -eq 0 ] || shift

packages=()
for saver in vim emacs:emacs-nox nano rsync patch git perl; do
    command -v "${saver%:*}" >/dev/null || packages+=("${saver#*:}")
done
if [ ${#packages[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update >/dev/null 2>&1 || true
        for package in "${packages[@]}"; do
            DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package" >/dev/null 2>&1 </dev/null || true
        done
    else
        echo "savers: missing, so skipped (on Debian: apt-get install ${packages[*]})"
    fi
fi

if [ $# -gt 0 ]; then
    PREFS_SAVER="$(IFS=, && echo "$*")"
    export PREFS_SAVER
fi
pids=()
trap 'kill ${pids[@]+"${pids[@]}"} 2>/dev/null || true' EXIT
# An observer that hears of nothing fails after so many seconds. A busy disk may stop a saver for a minute.
export PREFS_TEST_PATIENCE="${PREFS_TEST_PATIENCE:-180}"
code=0
run() {
    echo "== savers, $1 saves for each role and setting of the file$2"
    PREFS_SAVES="$1" Scripts/run-hazard.sh '\.(SaverTests|AbsenceTests)/' || code=1
}

run "$saves" ""
# They end with this script, even if it is killed.
for _ in $(seq "$(getconf _NPROCESSORS_ONLN)"); do
    nice sh -c 'while kill -0 "$0" 2>/dev/null; do :; done' $$ &
    pids+=($!)
done
run $(((saves + 3) / 4)) ", beside busy processors"
exit $code
