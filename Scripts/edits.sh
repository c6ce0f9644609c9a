#!/usr/bin/env bash
# Lets tools change values of settings files, and counts the lines that differ and the values that are wrong: JSON by prefs, jsonc-parser of
# VS Code and Augeas, XML property lists by prefs, plistlib of Python, plutil of Swift and plmerge of GNUstep. Each JSON file is changed four
# times: a value, a value in another object, a new key, a removed key; in each property list, one text. The files are those of jupyterlab and
# fonttools, in versions of PyPI that are pinned here, so the counts of a tool stay as they are. prefs undo has to revert each change of JSON.
# Installs nothing on the machine. Augeas and the files go into a temporary folder; a tool that is missing is skipped and its package named.
# PREFS is the tool, .build/debug/prefs by default. JSONC_PARSER is a folder with jsonc-parser, else npm installs it into the temporary folder.
# usage: Scripts/edits.sh [TOOL …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

known=" prefs jsonc-parser Augeas plistlib plutil plmerge "
for tool in "$@"; do [[ "$known" == *" $tool "* ]] || usage; done
wanted=("$@")
[ $# -gt 0 ] || read -ra wanted <<<"$known"
sources="$PWD/Scripts/edits"
PREFS="$(realpath -m "${PREFS:-.build/debug/prefs}")"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
export HOME="$folder/home" XDG_CONFIG_HOME="$folder/home/.config" XDG_STATE_HOME="$folder/home/.local/state" TMPDIR="$folder"
mkdir -p "$HOME" "$folder/packages" "$folder/files"
has() { command -v "$1" >/dev/null; }
skip() { # tool, what is missing
    echo "edits: $1 skipped, install $2" >&2
}

has python3 || { echo "edits: skipped, python3 is missing"; exit 0; }
{
    python3 -m pip download -q --no-deps --only-binary :all: -d "$folder/packages" jupyterlab==4.4.3 &&
        python3 -m pip download -q --no-deps --no-binary :all: -d "$folder/packages" fonttools==4.58.0
} >"$folder/pip.log" 2>&1 || { echo "edits: skipped, jupyterlab 4.4.3 and fonttools 4.58.0 of PyPI cannot be downloaded"; exit 0; }
python3 -m zipfile -e "$folder"/packages/jupyterlab-*.whl "$folder/files"
python3 -m tarfile -e "$folder"/packages/fonttools-*.tar.gz "$folder/files"

tools=()
for tool in "${wanted[@]}"; do
    case $tool in
        prefs)
            if [ -x "$PREFS" ]; then tools+=("prefs=$PREFS"); else skip prefs "nothing, but build it, or name it by PREFS"; fi ;;
        jsonc-parser)
            place="${JSONC_PARSER-}"
            if [ -z "$place" ] && has npm; then
                npm install --silent --prefix "$folder/node" jsonc-parser@4.0.0-next.1 >"$folder/node.log" 2>&1 || true
                place="$folder/node/node_modules/jsonc-parser"
            fi
            if has node && [ -e "$place/package.json" ]; then
                tools+=("jsonc-parser=node $sources/jsonc.mjs $place")
            else
                skip jsonc-parser "Node.js, and jsonc-parser 4.0.0-next.1 of npm"
            fi ;;
        Augeas)
            mkdir "$folder/augeas"
            if has apt-get && has dpkg-deb && (cd "$folder/augeas" && apt-get download augeas-tools=1.14.0-1* augeas-lenses=1.14.0-1* \
                libaugeas0=1.14.0-1* libxml2 libicu72 libreadline8 libselinux1 libpcre2-8-0 >/dev/null 2>&1); then
                for package in "$folder"/augeas/*.deb; do dpkg-deb -x "$package" "$folder/augeas"; done
                libraries="$(dirname "$(find "$folder/augeas" -name libaugeas.so.0)"):$folder/augeas/lib/$(uname -m)-linux-gnu"
                place="$folder/augeas/usr"
                tools+=("Augeas=env LD_LIBRARY_PATH=$libraries $place/bin/augtool --noautoload -I $place/share/augeas/lenses/dist")
            else
                skip Augeas "nothing, but run it on Debian 12"
            fi ;;
        plistlib) tools+=("plistlib=") ;;
        plutil)
            swift="$(realpath "$(command -v swift || echo /)")"
            if [ -x "${swift%/*}/plutil" ]; then tools+=("plutil=${swift%/*}/plutil"); else skip plutil "a Swift toolchain"; fi ;;
        plmerge)
            if has plmerge && has plser; then tools+=("plmerge=plmerge"); else skip plmerge "Debian's gnustep-base-runtime"; fi ;;
    esac
done
python3 "$sources/edits.py" "$folder/files" "$folder" "${tools[@]}"
