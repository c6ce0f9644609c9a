#!/usr/bin/env bash
# json-five 1.1.2 (PyPI), which reads JSON5 and can keep comments, replaces \u and \x in a text before it looks whether their backslash is itself
# escaped. So in plain JSON, the pattern "[\\u0400-\\u04ff]+" is read with the characters in place of their escapes, "\\x41" is A, and the path
# "C:\\xampp" raises an error; other readers of JSON take all of them as they stand. What its own dumps has written is not what its loads
# returns. Settings with patterns, and with paths of Windows, are hurt. Needs python3 with pip.
# usage: findings/json-five-decodes-an-escape-whose-backslash-is-escaped.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
command -v python3 >/dev/null || { echo "skipped: python3 is missing"; exit 0; }
python3 -m pip install -q --target "$folder/packages" json-five==1.1.2 >/dev/null 2>&1 || { echo "skipped: json-five 1.1.2 cannot be installed"; exit 0; }

PYTHONPATH="$folder/packages" python3 - <<'PYTHON'
import json, sys
import json5

def read(text):
    try:
        return json5.loads(text)["k"]
    except json5.JSON5DecodeError as error:
        return "error: " + str(error)[:60]

values = [r"[\u0400-\u04ff]+", r"\x41", r"C:\xampp", r"C:\users", r"a\b"]
found = [read(json.dumps({"k": value})) for value in values]
again = [read(json5.dumps({"k": value})) for value in values]
for value, other in zip(values, found):
    print(f"{json.dumps(value)}: expected {value}, read {other}")
sys.exit(not (found[:2] == ["[\u0400-\u04ff]+", "A"] and found[2].startswith("error") and found[3:] == values[3:] and again[:2] == found[:2]))
PYTHON
