#!/usr/bin/env bash
# Installs the programs that tests use beside the toolchain, from Debian's packages, if they are missing and root asks for it: etcd, and
# what judges the package's files and scripts. Says which tests are skipped without them.
# usage: Scripts/tools.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || usage

# A program, or a module of Python, Node.js or Ruby, its packages, and what its tests are about.
tools="
etcd etcd-server,etcd-client the fleet
etcdctl etcd-client the fleet
openssl openssl encryption of a fleet
nginx nginx-light a fleet behind nginx
haproxy haproxy a fleet behind haproxy
faketime faketime wrong clocks
setfacl acl access control lists
jq jq JSON of other programs
jshon jshon JSON of other programs
node:json5 nodejs,node-json5 JSON of other programs
plistutil libplist-utils property lists of other programs
plget gnustep-base-runtime property lists of other programs
python:biplist python3-biplist property lists of other programs
ruby:cfpropertylist ruby-cfpropertylist property lists of other programs
python:jsonschema python3-jsonschema JSON schemas
zsh zsh completion
fish fish completion
shellcheck shellcheck the style of shell scripts
stow stow lists of ignored names
mandoc mandoc the manual page
"

has() { # tool
    case $1 in
        python:*) /usr/bin/python3 -c "import ${1#*:}" 2>/dev/null ;;
        node:*) node -e "module.paths.push('/usr/share/nodejs'); require('${1#*:}')" 2>/dev/null ;;
        ruby:*) ruby -e "require '${1#*:}'" 2>/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

isUpdated=""
while read -r tool packages what; do
    if [ -z "$tool" ] || has "$tool"; then continue; fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        [ -n "$isUpdated" ] || apt-get update >/dev/null 2>&1 || true
        isUpdated=yes
        # shellcheck disable=SC2086 # several words
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${packages//,/ } >/dev/null 2>&1 </dev/null || true
    fi
    has "$tool" || echo "tools: $tool is missing: tests of $what are skipped (on Debian: apt-get install ${packages//,/ })"
done <<<"$tools"
if has etcd; then echo "tools: etcd $(etcd --version | sed -n 's/^etcd Version: //p')"; fi
