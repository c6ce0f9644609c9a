#!/usr/bin/env bash
# KConfig 5.103.0 (Debian 12): a value that is equal to the one which a file of the system gives today is not written into the file of the
# user. kwriteconfig5 ends with status 0, and the file is not even made. When the administrator changes the default, the choice of the user
# changes with it. One would expect that what was set stays, as with dconf and git config. A script that pins a setting pins it on those
# machines only where it differs that day. A user who sets another value first, and then this one, keeps it. Needs apt-get; Debian 12 only.
# usage: findings/kconfig-does-not-store-a-choice-that-is-the-default-today.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for tool in dpkg-deb apt-get; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
(cd "$folder" && apt-get download libkf5config-bin=5.103.0-2* libkf5configcore5=5.103.0-2* libqt5core5a libqt5dbus5 libdbus-1-3 libdouble-conversion3 \
    libglib2.0-0 libicu72 libpcre2-16-0 libpcre2-8-0 libzstd1 zlib1g >/dev/null 2>&1) || { echo "skipped: KConfig 5.103.0 cannot be installed"; exit 0; }
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/package"; done
machine="$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH="$folder/package/usr/lib/$machine:$folder/package/lib/$machine" PATH="$folder/package/usr/bin:$PATH"
export HOME="$folder/home" XDG_CONFIG_HOME="$folder/home" XDG_CONFIG_DIRS="$folder/system"
mkdir "$folder/home" "$folder/system"

system() { printf '[View]\nTheme=%s\n' "$1" >"$folder/system/editorrc"; }
choose() { kwriteconfig5 --file editorrc --group View --key Theme "$1"; }
read_theme() { kreadconfig5 --file editorrc --group View --key Theme; }
system Light
status=0
choose Light || status=$?
isStored=no
[ ! -e "$folder/home/editorrc" ] || isStored=yes
system Dark
plain="$(read_theme)"

system Light
choose Dark
choose Light
system Dark
detour="$(read_theme)"
echo "set Light where the system says Light: status $status, stored: $isStored; after the system says Dark: $plain; set by a detour: $detour"
[ "$status $isStored $plain $detour" = "0 no Dark Light" ]
