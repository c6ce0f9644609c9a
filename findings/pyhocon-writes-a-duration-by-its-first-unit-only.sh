#!/usr/bin/env bash
# pyhocon 0.3.63 (PyPI) reads a value such as "90 s" as a duration, although the file gives no type, and HOCONConverter.to_hocon writes only the
# first unit that is not zero: after a program has read the settings, changed something else and written them, 90 s is 1 minute, 36 hours is 12
# hours, and 1 month or 1 year is 0 seconds. One would expect the text of the file, or the same span of time in another unit. Quoted texts
# stay. No error is raised. Who keeps timeouts, terms of storage or licences in such a file loses them by the first save. Needs python3 with pip.
# usage: findings/pyhocon-writes-a-duration-by-its-first-unit-only.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
command -v python3 >/dev/null || { echo "skipped: python3 is missing"; exit 0; }
python3 -m pip install -q --target "$folder/packages" pyhocon==0.3.63 python-dateutil==2.9.0.post0 >/dev/null 2>&1 ||
    { echo "skipped: pyhocon 0.3.63 cannot be installed"; exit 0; }

PYTHONPATH="$folder/packages" python3 - <<'PYTHON'
import sys
from pyhocon import ConfigFactory, HOCONConverter

before = """port = 8080
timeout = 90 s
backup = 36 hours
keep = 1 month
licence = 1 year
quoted = "90 s"
"""
settings = ConfigFactory.parse_string(before)
settings.put("port", 8081)
after = HOCONConverter.to_hocon(settings)
print(f"before:\n{before}\nafter:\n{after}")
expected = ["port = 8081", "timeout = 1 minutes", "backup = 12 hours", "keep = 0 seconds", "licence = 0 seconds", 'quoted = "90 s"']
sys.exit(after.splitlines() != expected)
PYTHON
