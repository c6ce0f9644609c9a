#!/usr/bin/env bash
# perl 5.36.0 (Debian 12), `perl -pi.bak`: the first edit of a file links the backup to it and renames the new text over it, so the name always has
# a file. The link fails if there is a backup already, so each later edit renames the file away first, and the new text into the free
# place: in between there is no file, and a program that takes a missing file for "no settings yet" reads its defaults. Who looks at what an
# edit does in an empty folder sees the safe way only. Without a backup, `perl -pi` is safe each time. strace 6.1 holds perl for half a second after
# each rename here, so that the moment can be seen. Debian 12 only, where processes may be traced.
# usage: findings/perl-in-place-with-a-backup-is-atomic-only-once.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for tool in perl dpkg-deb apt-get; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
[ "$(perl -e 'print $^V')" = v5.36.0 ] || { echo "skipped: perl is not 5.36.0"; exit 0; }
(cd "$folder" && apt-get download "strace=6.1*" libunwind8 >/dev/null 2>&1) || { echo "skipped: strace 6.1 cannot be installed"; exit 0; }
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/package"; done
LD_LIBRARY_PATH="$(dirname "$(find "$folder/package" -name 'libunwind.so.8' | head -1)")"
export LD_LIBRARY_PATH
strace=("$folder/package/usr/bin/strace" -f -o "$folder/trace" -e "trace=rename,renameat,renameat2")
"${strace[@]}" true 2>/dev/null || { echo "skipped: processes may not be traced"; exit 0; }

# "there" or "missing": whether the file was there each time that one looked while perl edited it with the given option.
edit() {
    local editor seen=there
    "${strace[@]}" -e inject=rename,renameat,renameat2:delay_exit=500000 perl "$1" -e 's/14/15/' settings &
    editor=$!
    while kill -0 "$editor" 2>/dev/null; do
        [ -e settings ] || seen=missing
        sleep 0.02
    done
    wait "$editor"
    echo "$seen"
}
mkdir "$folder/work"
cd "$folder/work"
echo 'size = 14' >settings
plain="$(edit -pi) $(edit -pi)"
backup="$(edit -pi.bak) $(edit -pi.bak) $(edit -pi.bak)"
echo "perl -pi: $plain; perl -pi.bak: $backup"
[ "$plain" = "there there" ] && [ "$backup" = "there missing missing" ]
