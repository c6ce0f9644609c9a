#!/usr/bin/env bash
# plmerge of GNUstep base 1.28.0 (Debian 12) merges property lists into a file. A destination in XML is written back not as XML but in GNUstep's
# extension of the OpenStep text format, although all its values and those merged into it came from XML: the number 14 is <*I14>, true is
# <*BY>. The exit status is 0, nothing is said, and the name of the file stays. The program that owns the file cannot read it any more: Python's
# plistlib and libplist 2.2.0 refuse it. GNUstep's plser turns it back. Needs python3 and apt-get; Debian 12 only.
# usage: findings/plmerge-turns-xml-into-a-format-of-its-own.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for tool in python3 dpkg-deb apt-get; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
(cd "$folder" && apt-get download "gnustep-base-runtime=1.28.1+really1.28.0-5*" "libgnustep-base1.28=1.28.1+really1.28.0-5*" gnustep-base-common \
    libplist-utils=2.2.0* libplist3=2.2.0* libobjc4 libavahi-client3 libavahi-common3 libdbus-1-3 libgnutls30 libicu72 libxml2 libxslt1.1 \
    >/dev/null 2>&1) || { echo "skipped: GNUstep base 1.28.0 and libplist 2.2.0 cannot be installed"; exit 0; }
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/package"; done
LD_LIBRARY_PATH="$(dirname "$(find "$folder/package" -name 'libgnustep-base.so.1.28' | head -1)")"
export LD_LIBRARY_PATH PATH="$folder/package/usr/bin:$PATH"

python3 - "$folder" <<'PYTHON'
import plistlib, subprocess, sys

folder = sys.argv[1]
settings, more = folder + "/settings.plist", folder + "/more.plist"
for path, values in ((settings, {"size": 14, "wrap": True}), (more, {"theme": "dark"})):
    with open(path, "wb") as file:
        plistlib.dump(values, file)

def run(*command):
    return subprocess.run(command, capture_output=True, text=True)

def readers():
    with open(settings, "rb") as file:
        try:
            python = plistlib.load(file)
        except plistlib.InvalidFileException:
            python = "refused"
    return python, "read" if "<plist" in run("plistutil", "-i", settings, "-f", "xml").stdout else "refused"

before = readers()
merged = run("plmerge", settings, more)
after = readers()
with open(settings) as file:
    text = file.read()
back = plistlib.loads(run("plser", "-Format", "NSPropertyListXMLFormat_v1_0", settings).stdout.encode())
print(f"plistlib and libplist before: {before}, after: {after}; exit status {merged.returncode}, said {merged.stdout + merged.stderr!r}\n{text}")
values = {"size": 14, "wrap": True}
sys.exit(not (before == (values, "read") and after == ("refused", "refused") and merged.returncode == 0 and merged.stdout + merged.stderr == ""
              and "size = <*I14>;" in text and "wrap = <*BY>;" in text and back == {**values, "theme": "dark"}))
PYTHON
