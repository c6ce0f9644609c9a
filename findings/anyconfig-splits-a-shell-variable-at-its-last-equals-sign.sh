#!/usr/bin/env bash
# anyconfig 0.16.0 (PyPI), type "shellvars": a line NAME=VALUE is split at the last = that can be one, not at the first. A value with an equals sign, such
# as a base64 key or the address of a query, is therefore stored under a name that has a part of the value in it; the setting itself
# is missing, and no error is raised. A program takes its default for it. What anyconfig.dumps has written is not read back. The same
# line is one setting in a shell, in systemd and in python-dotenv. Needs python3 with pip, and bash.
# usage: findings/anyconfig-splits-a-shell-variable-at-its-last-equals-sign.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
command -v python3 >/dev/null || { echo "skipped: python3 is missing"; exit 0; }
python3 -m pip install -q --target "$folder/packages" anyconfig==0.16.0 >/dev/null 2>&1 || { echo "skipped: anyconfig 0.16.0 cannot be installed"; exit 0; }

cat >"$folder/settings" <<'SETTINGS'
PORT=8080
KEY=c2V0dGluZw==
ADDRESS="https://example.org/?user=a"
SETTINGS
# shellcheck disable=SC1091
shell="$(. "$folder/settings" && printf '%s|%s|%s' "$PORT" "$KEY" "$ADDRESS")"
echo "a shell reads: $shell"
PYTHONPATH="$folder/packages" python3 - "$folder/settings" <<'PYTHON'
import sys, warnings
import anyconfig

warnings.simplefilter("error", SyntaxWarning)
values = anyconfig.load(sys.argv[1], ac_parser="shellvars")
print(f"anyconfig reads: {dict(values)}")
written = anyconfig.dumps({"KEY": "c2V0dGluZw=="}, ac_parser="shellvars")
again = anyconfig.loads(written, ac_parser="shellvars")
sys.exit(not (values.get("PORT") == "8080" and "KEY" not in values and "ADDRESS" not in values and len(values) == 3 and "KEY" not in again))
PYTHON
[ "$shell" = '8080|c2V0dGluZw==|https://example.org/?user=a' ]
