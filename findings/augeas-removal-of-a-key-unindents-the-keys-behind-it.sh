#!/usr/bin/env bash
# Augeas 1.14.0 (Debian 12) keeps the blanks and comments of a file around what changes, and for a JSON file in which a value is set, it does.
# Where one key is removed, it gives the blanks of each place to the key that is in that place now: the values stay right, but objects that did not
# change lose their indentation, an empty list gets blanks, and an empty line stays. In a repository, the removal of one key
# is a change of half of the file. Needs python3 and apt-get; Debian 12 only.
# usage: findings/augeas-removal-of-a-key-unindents-the-keys-behind-it.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for tool in python3 dpkg-deb apt-get; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
(cd "$folder" && apt-get download augeas-tools=1.14.0-1* augeas-lenses=1.14.0-1* libaugeas0=1.14.0-1* libxml2 libicu72 libreadline8 libselinux1 libpcre2-8-0 \
    >/dev/null 2>&1) || { echo "skipped: Augeas 1.14.0 cannot be installed"; exit 0; }
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/package"; done
LD_LIBRARY_PATH="$(dirname "$(find "$folder/package" -name 'libaugeas.so.0' | head -1)"):$folder/package/lib/$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH PATH="$folder/package/usr/bin:$PATH"

python3 - "$folder" <<'PYTHON'
import json, subprocess, sys

folder = sys.argv[1]
path = folder + "/settings.json"
before = """{
  "name": "editor",
  "tags": [
    "a"
  ],
  "recent": [],
  "window": {
    "width": 800,
    "height": 600
  }
}
"""

def change(command):
    with open(path, "w") as file:
        file.write(before)
    script = f"load\n{command}\nsave\n"
    words = ["augtool", "--noautoload", "-I", folder + "/package/usr/share/augeas/lenses/dist", "--transform", f"Json.lns incl {path}"]
    done = subprocess.run(words, input=script, capture_output=True, text=True)
    with open(path) as file:
        return done.returncode, file.read()

status, changed = change(f"set /files{path}/dict/entry[.='name']/string viewer")
again, removed = change(f"rm /files{path}/dict/entry[.='tags']")
print(removed)
values = json.loads(before)
del values["tags"]
sys.exit(not (status == again == 0 and changed == before.replace("editor", "viewer") and json.loads(removed) == values
              and '"recent": [    ]' in removed and '\n"width":800,\n"height":600\n' in removed))
PYTHON
