#!/usr/bin/env bash
# dconf 0.40.0 (Debian 12): `dconf compile`, and so `dconf update` for each folder /etc/dconf/db/NAME.d, takes every file whose name does not begin
# with a dot, and the last one by name wins. The backup of a file comes right behind it: 10-site~, 10-site.bak or 10-site.dpkg-old. So an
# administrator edits 10-site, runs the command, which says nothing, and all users keep the old value. One would expect that names which
# end in ~ are left out, as run-parts does. Needs apt-get; Debian 12 only.
# usage: findings/dconf-compile-prefers-the-backup-that-an-editor-has-left.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for tool in dpkg-deb apt-get; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
(cd "$folder" && apt-get download dconf-cli=0.40.0-4* libdconf1=0.40.0-4* libglib2.0-0 libffi8 libpcre2-8-0 libmount1 libblkid1 libselinux1 zlib1g \
    >/dev/null 2>&1) || { echo "skipped: dconf 0.40.0 cannot be installed"; exit 0; }
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/package"; done
machine="$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH="$folder/package/usr/lib/$machine:$folder/package/lib/$machine" PATH="$folder/package/usr/bin:$PATH"
export DCONF_PROFILE="$folder/profile" XDG_CONFIG_HOME="$folder/home"
printf 'user-db:user\nfile-db:%s\n' "$folder/site" >"$DCONF_PROFILE"

mkdir "$folder/site.d"
printf '[org/example/editor]\nsize=12\n' >"$folder/site.d/10-site"
compiled() {
    dconf compile "$folder/site" "$folder/site.d"
    dconf read /org/example/editor/size
}
first="$(compiled)"
# As emacs saves, or vim with the option backup, or sed -i~.
sed -i~ 's/12/14/' "$folder/site.d/10-site"
second="$(compiled)"
mv "$folder/site.d/10-site~" "$folder/site.d/10-site.dpkg-old"
third="$(compiled)"
rm "$folder/site.d/10-site.dpkg-old"
fourth="$(compiled)"
echo "size $first; edited to 14: read $second beside 10-site~, $third beside 10-site.dpkg-old, $fourth without a backup"
[ "$first $second $third $fourth" = "12 12 12 14" ]
