#!/usr/bin/env bash
# Runs the commands of the table "Tasks" of the article DailyTasks.md, those of prefs and those of others (jq, git, npm, and plutil of Swift), each in a
# folder of its own with the same files. Fails if a command fails, or if another one than prefs prints something else or leaves other values in
# the files. Prints each row that is not compared, because it waits or needs a person. A command whose tool is missing is skipped and named.
# PREFS is the tool, .build/debug/prefs by default. Takes three seconds.
# usage: Scripts/tasks.sh
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
    sed -n 's/^# usage: /usage: /p' "Scripts/${0##*/}" >&2
    exit 64
}

[ $# -eq 0 ] || usage
PREFS="$(realpath -m "${PREFS:-.build/debug/prefs}")"
export PREFS
[ -x "$PREFS" ] || { echo "tasks: skipped, build prefs, or name it by PREFS"; exit 0; }
command -v python3 >/dev/null || { echo "tasks: skipped, python3 is missing"; exit 0; }
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/home" "$folder/bin" "$folder/tasks"
ln -s "$PREFS" "$folder/bin/prefs"
swift="$(realpath "$(command -v swift || echo /)")"
[ ! -x "${swift%/*}/plutil" ] || ln -s "${swift%/*}/plutil" "$folder/bin/plutil"
export HOME="$folder/home" XDG_CONFIG_HOME="$folder/home/.config" XDG_STATE_HOME="$folder/home/.local/state" PATH="$folder/bin:$PATH"
python3 Scripts/tasks/tasks.py Sources/PersistentPreferences/PersistentPreferences.docc/DailyTasks.md "$folder"
