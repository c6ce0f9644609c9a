#!/usr/bin/env bash
# systemd 252.39 (Debian 12), files of environment.d: a $ begins a variable in single quotes, too, and behind a backslash. KEY='pa$word' is "pa",
# because no variable word is set, and nothing is said. One would expect what a shell reads from the same line: single quotes keep a $. Only
# $$ stands for one, which a shell reads otherwise, so no such line is right for both. People move a token from a profile into environment.d,
# and their programs get a part of it. Needs apt-get; Debian 12 only.
# usage: findings/systemd-expands-a-variable-of-environment.d-in-single-quotes.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for tool in dpkg-deb apt-get; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
(cd "$folder" && apt-get download systemd=252.39* libsystemd-shared=252.39* libcap2 libcrypt1 libgcrypt20 libgpg-error0 liblz4-1 liblzma5 libmount1 \
    libblkid1 libseccomp2 libselinux1 libpcre2-8-0 libssl3 libzstd1 libacl1 libkmod2 libpam0g libaudit1 libcap-ng0 >/dev/null 2>&1) ||
    { echo "skipped: systemd 252.39 cannot be downloaded"; exit 0; }
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/package"; done
machine="$(uname -m)-linux-gnu"
generator="$(find "$folder/package" -name 30-systemd-environment-d-generator)"

mkdir -p "$folder/home/environment.d"
cat >"$folder/home/environment.d/program.conf" <<'CONF'
SINGLE='pa$word'
ESCAPED="pa\$word"
DOUBLED='pa$$word'
CONF
generated="$(env -i HOME="$folder/home" XDG_CONFIG_HOME="$folder/home" \
    LD_LIBRARY_PATH="$folder/package/usr/lib/$machine:$folder/package/usr/lib/systemd:$folder/package/lib/$machine:$folder/package/lib/systemd" \
    "$generator")"
# shellcheck disable=SC1091
shell="$(set +u && . "$folder/home/environment.d/program.conf" && printf '%s|%s|%s' "$SINGLE" "$ESCAPED" "$DOUBLED")"
printf 'systemd:\n%s\na shell, SINGLE|ESCAPED|DOUBLED: %s\n' "$generated" "$shell"
line() { grep -qxF -- "$1" <<<"$generated"; }
# The generator quotes what a shell would expand.
# shellcheck disable=SC2016
line SINGLE=pa && line ESCAPED=pa && line 'DOUBLED="pa\$word"' && [ "$shell" = 'pa$word|pa$word|pa$$word' ]
