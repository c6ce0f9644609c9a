#!/usr/bin/env bash
# kwriteconfig5 of KConfig 5.103.0 (Debian 12), --type bool: true, yes, on and 1 in lower case are stored as true, and everything else as false,
# with status 0 and without a word: True, as Python prints it, Yes, ON and any typing error turn the setting off. One would expect that case
# does not matter, or an error. When the same library reads, case does not matter: True, ON, and even tru in the file, as the command writes
# them without --type, are true. A script that switches a setting on by another program's True switches it off. Debian 12 only.
# usage: findings/kwriteconfig-stores-false-for-true-in-another-case.sh
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
mkdir "$folder/home" "$folder/system"
export HOME="$folder/home" XDG_CONFIG_HOME="$folder/home" XDG_CONFIG_DIRS="$folder/system"

failures=0
for row in true:true:true yes:true:true on:true:true 1:true:true True:false:true Yes:false:true ON:false:true tru:false:true; do
    IFS=: read -r value expected asText <<<"$row"
    status=0
    kwriteconfig5 --file editorrc --group View --key Typed --type bool "$value" || status=$?
    kwriteconfig5 --file editorrc --group View --key Text "$value"
    typed="$(kreadconfig5 --file editorrc --group View --key Typed)"
    # With --type bool, the status says the value.
    read=true
    kreadconfig5 --file editorrc --group View --key Text --type bool --default false >/dev/null || read=false
    echo "--type bool $value: status $status, stored $typed; the same text without a type is read as $read"
    [ "$status $typed $read" = "0 $expected $asText" ] || failures=1
done
exit $failures
