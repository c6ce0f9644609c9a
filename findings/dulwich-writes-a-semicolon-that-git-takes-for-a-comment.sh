#!/usr/bin/env bash
# dulwich 1.2.21 (PyPI) reads git's configuration, and writes all of it when a program sets one key. A value that stood in double quotes because
# of a semicolon is written without them, although one with # keeps them: git, and dulwich itself, take the rest of the line for a comment. So
# an alias such as "!f() { git add -A; git commit; }; f" is cut at its first semicolon, and so is a name or a filter, by a save of
# user.email. One would expect that a key which nobody has set keeps its value. Needs git and python3 with pip.
# usage: findings/dulwich-writes-a-semicolon-that-git-takes-for-a-comment.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for tool in git python3; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
python3 -m pip install -q --target "$folder/packages" dulwich==1.2.21 >/dev/null 2>&1 || { echo "skipped: dulwich 1.2.21 cannot be installed"; exit 0; }

cat >"$folder/config" <<'CONFIG'
[alias]
	save = "!f() { git add -A; git commit -m \"$1\"; }; f"
[commit]
	template = "notes #1.txt"
[user]
	name = "A. Writer; B. Reader"
CONFIG
value() { git config --file "$folder/config" "$1"; }
before="$(value alias.save)|$(value user.name)|$(value commit.template)"
PYTHONPATH="$folder/packages" python3 - "$folder/config" <<'PYTHON'
import sys
from dulwich.config import ConfigFile

config = ConfigFile.from_path(sys.argv[1])
config.set((b"user",), b"email", b"writer@example.org")
config.write_to_path(sys.argv[1])
PYTHON
after="$(value alias.save)|$(value user.name)|$(value commit.template)"
printf 'git reads, before: %s\nafter user.email was set: %s\n' "$before" "$after"
# shellcheck disable=SC2016 # the alias has a $
[ "$before" = '!f() { git add -A; git commit -m "$1"; }; f|A. Writer; B. Reader|notes #1.txt' ] &&
    [ "$after" = '!f() { git add -A|A. Writer|notes #1.txt' ] && [ "$(value user.email)" = writer@example.org ]
