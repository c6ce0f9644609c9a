#!/usr/bin/env bash
# Compares what keeps preferences on Linux: dconf, the keyfile backend of GSettings, xfconf, KConfig, QSettings, GKeyFile, configparser,
# dynaconf, configstore, Java Preferences, UserDefaults, and this package's tool. Prints a row for each peer:
# 1. Two processes update different keys in lockstep, 200 times each: how many of 400 keys are lost.
# 2. One line of the file is broken (half of a binary file is missing): what a read gives, and what a write does to the file.
# 3. The disk is full: what the write reports, and what is left of the file.
# 4. A person edits the file while the program runs: whether its next write keeps the edit and a comment.
# Installs nothing on the machine. A peer that is missing is skipped and its package named. dynaconf, and configstore if Debian's is missing,
# go into a temporary folder, like all other files. PREFS is the tool, .build/debug/prefs by default. Takes up to five minutes. Mounts the
# full disk in a namespace of its own; where that is not allowed, limits the size of files.
# usage: Scripts/peers.sh [PEER …]
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

known=" dconf keyfile xfconf KConfig QSettings GKeyFile configparser dynaconf configstore Java UserDefaults prefs "
for peer in "$@"; do [[ "$known" == *" $peer "* ]] || usage; done
if [ -z "${PEERS_NAMESPACE-}" ]; then
    export PEERS_NAMESPACE=yes
    if unshare --mount true 2>/dev/null; then exec unshare --mount "Scripts/${0##*/}" "$@"; fi
    if unshare --user --map-root-user --mount true 2>/dev/null; then exec unshare --user --map-root-user --mount "Scripts/${0##*/}" "$@"; fi
fi

sources="$PWD/Scripts/peers"
PREFS="$(realpath -m "${PREFS:-.build/debug/prefs}")"
export PREFS
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
export TMPDIR="$folder"
has() { command -v "$1" >/dev/null; }
skip() { # peer, package
    echo "peers: $1 skipped, install $2" >&2
}
wanted=("$@")
[ $# -gt 0 ] || read -ra wanted <<<"$known"

# Debian's python3 has Debian's modules; another one may be first on the PATH.
python=/usr/bin/python3
[ -x $python ] || python=python3
has "$python" || { echo "peers: skipped, python3 is missing"; exit 0; }
introspects() { "$python" -c "import gi; gi.require_version('$1', '$2')" 2>/dev/null; }
if has glib-compile-schemas; then
    export GSETTINGS_SCHEMA_DIR="$folder/schemas"
    mkdir "$GSETTINGS_SCHEMA_DIR"
    {
        echo '<schemalist><schema id="org.example.peers" path="/org/example/peers/">'
        for key in a b c d {x,y}{0..199}; do echo "<key name=\"$key\" type=\"s\"><default>''</default></key>"; done
        echo '</schema></schemalist>'
    } >"$GSETTINGS_SCHEMA_DIR/peers.gschema.xml"
    glib-compile-schemas "$GSETTINGS_SCHEMA_DIR"
fi

client="$python $sources/client.py"
peers=()
for peer in "${wanted[@]}"; do
    case $peer in
        dconf)
            if introspects Gio 2.0 && has glib-compile-schemas && has dbus-daemon && ls /usr/lib/*/gio/modules/libdconfsettings.so >/dev/null 2>&1; then
                peers+=("dconf=$client settings")
            else
                skip dconf "Debian's dconf-gsettings-backend, dbus, libglib2.0-bin and python3-gi"
            fi ;;
        keyfile)
            if introspects Gio 2.0 && has glib-compile-schemas; then
                peers+=("GSettings, keyfile=$client settings")
            else
                skip "the keyfile backend" "Debian's libglib2.0-bin and python3-gi"
            fi ;;
        GKeyFile) if introspects GLib 2.0; then peers+=("GKeyFile=$client keyfile"); else skip GKeyFile "Debian's python3-gi"; fi ;;
        xfconf)
            if introspects Xfconf 0 && has dbus-daemon; then
                peers+=("xfconf=$client xfconf")
            else
                skip xfconf "Debian's xfconf, gir1.2-xfconf-0, dbus and python3-gi"
            fi ;;
        KConfig | QSettings)
            flags="$(pkg-config --cflags --libs Qt5Core 2>/dev/null || true)"
            [ "$peer" = QSettings ] || flags="-DKCONFIG -I/usr/include/KF5/KConfig -I/usr/include/KF5/KConfigCore $flags -lKF5ConfigCore"
            # shellcheck disable=SC2086 # several options
            if g++ -fPIC -o "$folder/$peer" "$sources/client.cpp" $flags 2>"$folder/$peer.log"; then
                peers+=("$peer=$folder/$peer")
            else
                skip "$peer" "Debian's g++, pkg-config, qtbase5-dev$([ "$peer" = QSettings ] || echo " and libkf5config-dev")"
            fi ;;
        configparser) peers+=("configparser=$client configparser") ;;
        dynaconf)
            if python3 -m pip install --quiet --target "$folder/dynaconf" dynaconf==3.3.5 >"$folder/dynaconf.log" 2>&1; then
                peers+=("dynaconf=env PYTHONPATH=$folder/dynaconf $client dynaconf")
            else
                skip dynaconf "pip; dynaconf 3.3.5 of PyPI could not be installed"
            fi ;;
        configstore)
            mkdir "$folder/node"
            if [ -e /usr/share/nodejs/configstore ]; then
                ln -s /usr/share/nodejs "$folder/node/node_modules"
            elif has npm; then
                npm install --silent --prefix "$folder/node" configstore@6.0.0 >"$folder/node.log" 2>&1 || true
            fi
            if has node && [ -e "$folder/node/node_modules/configstore" ]; then
                cp "$sources/client.mjs" "$folder/node"
                peers+=("configstore=node --preserve-symlinks $folder/node/client.mjs $folder/node/node_modules/configstore")
            else
                skip configstore "Debian's node-configstore, or Node.js and configstore 6.0.0 of npm"
            fi ;;
        Java) if has javac && javac -d "$folder" "$sources/Client.java"; then
                peers+=("Java Preferences=java -cp $folder Client")
            else
                skip "Java Preferences" "Debian's openjdk-17-jdk-headless"
            fi ;;
        UserDefaults)
            if has swiftc && swiftc -o "$folder/defaults" "$sources/client.swift" 2>"$folder/defaults.log"; then
                SWIFT_VERSION="$(swiftc --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9.]+).*/Swift \1/p')"
                export SWIFT_VERSION
                peers+=("UserDefaults=$folder/defaults")
            else
                skip UserDefaults "a Swift toolchain"
            fi ;;
        prefs) if [ -x "$PREFS" ]; then peers+=("prefs=$client tool"); else skip prefs "nothing, but build it, or name it by PREFS"; fi ;;
    esac
done
mkdir "$folder/homes"
cd "$folder/homes"
"$python" "$sources/experiments.py" "${peers[@]}"
