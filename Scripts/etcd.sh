#!/usr/bin/env bash
# Installs what the tests of PersistentPreferencesEtcd need from Debian's packages, if it is missing and root asks for it: etcd, stunnel
# and openssl for those of encryption, and faketime for those of wrong clocks. Without them these tests are skipped.
# usage: Scripts/etcd.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || usage

has() { for tool; do command -v "$tool" >/dev/null || return 1; done; }

# Stunnel's service starts only with a configuration, and the package has none.
if ! has etcd etcdctl stunnel openssl faketime && [ "$(id -u)" = 0 ] && has apt-get; then
    apt-get update >/dev/null 2>&1 || true
    for packages in "etcd-server etcd-client" stunnel4 openssl faketime; do
        # shellcheck disable=SC2086 # several words
        apt-get install -y --no-install-recommends $packages >/dev/null 2>&1 || true
    done
fi
if has etcd etcdctl; then
    echo "etcd: $(etcd --version | sed -n 's/^etcd Version: //p')"
else
    echo "etcd: missing; its tests are skipped (on Debian: apt-get install etcd-server etcd-client)"
fi
if has stunnel openssl; then
    echo "stunnel: $(stunnel -version 2>&1 | sed -n 's/^stunnel \([0-9.]*\) .*/\1/p')"
else
    echo "stunnel or openssl: missing; tests of encryption are skipped (on Debian: apt-get install stunnel4 openssl)"
fi
has faketime || echo "faketime: missing; a test of wrong clocks is skipped (on Debian: apt-get install faketime)"
