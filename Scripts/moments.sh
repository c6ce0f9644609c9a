#!/usr/bin/env bash
# Shows what programs leave for a moment while they save a file: no file, no folder, zeros, a mixture of the old and the new text, an empty
# file and parts of it, or never more or less than a file. Each system call that may change a file is held up by strace, while another thread
# reads the file. Prints a row for each moment, with its programs, and fails if a program leaves something else than the table in moments.py says.
# Installs nothing on the machine. Debian's packages that are missing, and ansible-core of PyPI, go into a temporary folder, in /var/tmp because vim
# and emacs save otherwise below /tmp; a program that cannot be had is skipped. Takes four minutes.
# usage: Scripts/moments.sh [PROGRAM …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

sources="$PWD/Scripts/moments"
known=" $(sed -nE 's/^    \("([^"]+)".*/\1/p' "$sources/moments.py" | tr '\n' ' ')"
for program in "$@"; do [[ "$known" == *" $program "* ]] || usage; done
for tool in strace python3; do
    command -v "$tool" >/dev/null || { echo "moments: skipped, $tool is missing"; exit 0; }
done
folder="$(TMPDIR=/var/tmp mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/home" "$folder/tmp" "$folder/packages" "$folder/saves"
export HOME="$folder/home" TMPDIR="$folder/tmp" TERM=xterm XDG_CONFIG_HOME="$folder/home/.config"

# A program that is missing, with the packages that it needs and that are not installed.
unpack() { # package
    local names
    mapfile -t names < <(apt-get install -s --no-install-recommends "$1" 2>/dev/null | sed -nE 's/^Inst ([^ ]+).*/\1/p')
    [ ${#names[@]} -gt 0 ] || return 0
    mkdir -p "$folder/packages/$1"
    (cd "$folder/packages/$1" && apt-get download "${names[@]}" >/dev/null 2>&1) || return 0
    for package in "$folder/packages/$1"/*.deb; do dpkg-deb -x "$package" "$folder/root"; done
}
if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
    for program in vim emacs:emacs-nox git patch rsync ed nano micro joe ne kak:kakoune unison restic syncthing; do
        command -v "${program%:*}" >/dev/null || unpack "${program#*:}"
    done
    libraries="$folder/root/usr/lib/$(uname -m)-linux-gnu"
    libraries+=":$folder/root/lib/$(uname -m)-linux-gnu"
    export PATH="$PATH:$folder/root/usr/bin" LD_LIBRARY_PATH="$libraries"
fi
if ! command -v ansible >/dev/null && python3 -m venv "$folder/venv" >/dev/null 2>&1 &&
    "$folder/venv/bin/pip" install -q ansible-core==2.17.7 >"$folder/pip.log" 2>&1; then
    export PATH="$PATH:$folder/venv/bin"
fi
python3 "$sources/moments.py" "$folder" "$@"
