#!/usr/bin/env bash
# strictyaml 1.7.3 (PyPI) keeps the comments of a file when a program sets a value. If the new value has several lines, and the old one had a
# comment on its line, the new text becomes a block, and the comment comes below it, in its former column. That is inside of the block, so
# it is no comment but the last line of the value: a program that stores a greeting over "greeting: Hi # shown at login" reads the
# person's note as a part of it, and shows it. One line, or a line without a comment, is right. Needs python3 with pip.
# usage: findings/strictyaml-takes-the-comment-of-a-line-into-its-new-text.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
command -v python3 >/dev/null || { echo "skipped: python3 is missing"; exit 0; }
python3 -m pip install -q --target "$folder/packages" strictyaml==1.7.3 pyyaml==6.0.2 >/dev/null 2>&1 ||
    { echo "skipped: strictyaml 1.7.3 and PyYAML 6.0.2 cannot be installed"; exit 0; }

PYTHONPATH="$folder/packages" python3 - <<'PYTHON'
import sys
import strictyaml, yaml

def stored(line, value):
    """The text after the value was set, and what strictyaml and PyYAML read."""
    settings = strictyaml.load(line + "\nsize: 14 # points\n")
    settings["greeting"] = value
    text = settings.as_yaml()
    return text, strictyaml.load(text).data["greeting"], yaml.safe_load(text)["greeting"]

new = "Hello,\nwelcome"
text, *read = stored("greeting: Hi # shown at login", new)
print(text)
print(f"set {new!r}, read {read[0]!r}")
plain = stored("greeting: Hi", new)[1:]
short = stored("greeting: Hi # shown at login", "Hello")[1:]
wrong = read[0] == read[1] and read[0].startswith(new + "\n") and read[0].endswith("# shown at login")
sys.exit(not (wrong and plain == (new, new) and short == ("Hello", "Hello")))
PYTHON
