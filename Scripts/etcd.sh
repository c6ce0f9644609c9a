#!/usr/bin/env bash
# Installs etcd from Debian's packages, for the tests of PersistentPreferencesEtcd, if it is missing and root asks for it. Without
# etcd these tests are skipped.
# usage: Scripts/etcd.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || usage

if ! command -v etcd >/dev/null || ! command -v etcdctl >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        { apt-get update && apt-get install -y --no-install-recommends etcd-server etcd-client; } >/dev/null 2>&1 || true
    fi
fi
if command -v etcd >/dev/null; then
    echo "etcd: $(etcd --version | sed -n 's/^etcd Version: //p')"
else
    echo "etcd: missing; its tests are skipped (on Debian: apt-get install etcd-server etcd-client)"
fi
