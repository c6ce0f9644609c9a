"""Runs the commands of the table of tasks, and compares what they print and change. Called by tasks.sh.

usage: tasks.py ARTICLE FOLDER
"""
import datetime, json, os, plistlib, re, shutil, subprocess, sys

article, folder = sys.argv[1:]
# Commands that wait, need a person or the last write, or print something in a form of their own.
ALONE = {"compare", "check", "search for a value", "edit by hand", "take it back", "follow changes", "where a value comes from"}


def before(task):
    first = {"name": "editor", "port": 80, "on": True, "old": 1, "n": 1, "window": {"width": 800}, "tags": ["keep", "b"]}
    if "has dots" in task:
        first["a.b"] = "dotted"
    second = {"name": "other", "port": 81, "window": {"height": 600}}
    values = {"n": 1} if task == "convert" else {"e": datetime.datetime(2026, 1, 2), "b": b"\0"}
    return {"F.json": first, "G.json": second, "package.json": first, "p.plist": values}


def run(command, task):
    """The exit status, what is printed, the changes as pairs of a place and a value, and the message."""
    place = os.path.join(folder, "tasks")
    shutil.rmtree(place)
    os.makedirs(place)
    files = before(task)
    for name, values in files.items():
        with open(os.path.join(place, name), "wb") as file:
            file.write(plistlib.dumps(values) if name == "p.plist" else json.dumps(values, indent=2).encode() + b"\n")
    with open(os.path.join(place, "git"), "w") as file:
        file.write("[a]\n\tb = dotted\n")
    for letter, name in (("F", "git" if command.startswith("git config -f") else "F.json"), ("G", "G.json")):
        command = re.sub(rf"(?<![\w./-]){letter}(?![\w./-])", name, command)
    done = subprocess.run(["bash", "-c", command], cwd=place, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    changes = set()
    for name in {*files, "new.json"} & set(os.listdir(place)):
        with open(os.path.join(place, name), "rb") as file:
            values = plistlib.load(file) if name == "p.plist" else json.load(file)
        former = files.get(name, {})
        shown = "F.json" if name == "package.json" else name
        changes |= {(shown, key, json.dumps(values.get(key), sort_keys=True, default=repr)) for key in {*former, *values} if former.get(key) != values.get(key)}
    return done.returncode, re.sub(r'[\s"]', "", done.stdout), changes, done.stderr.strip()


compared, alone, failed = 0, [], 0
with open(article) as file:
    rows = [re.split(r"(?<!\\)\|", line.replace("\\|", "\0"))[1:4] for line in file if re.match(r"\| .*\|.*`.*\|.*\|$", line)]
for task, ours, theirs in rows:
    task, ours, theirs = (cell.strip().replace("\0", "|") for cell in (task, ours, theirs))
    commands = re.findall(r"`([^`]+)`", theirs)
    if task == "task":
        continue
    if task in ALONE or not commands:
        alone.append(task)
        continue
    status = 1 if task.startswith("exit code 1") else 0
    printed, changed = [], set()
    for command in re.findall(r"`([^`]+)`", ours):
        if command.startswith("-t "):
            continue
        found = run("prefs " + command, task)
        compared += 1
        printed.append(found[1])
        changed |= found[2]
        if found[0] != status:
            failed += 1
            print(f"FAILED: {task}: prefs {command}: {found[3]}")
    for command in commands:
        if not shutil.which(command.split()[0]):
            print(f"skipped, not installed: {command}")
            continue
        code, output, changes, errors = run(command, task)
        compared += 1
        isAlike = command.startswith("git") or (changes and changes <= changed if changed else status or output in printed)
        if code != status or not isAlike:
            failed += 1
            print(f"DIFFERS: {task}: {command}: {code} {errors}\n  {output} {changes}\n  prefs: {printed} {changed}")
    if task == "convert" and shutil.which("plutil") and run(commands[0], "with a date")[0] == 0:
        failed += 1
        print("DIFFERS: plutil converts a list with a date")
print(f"tasks: {compared} commands run, {failed} wrong; not compared: {', '.join(alone)}")
sys.exit(failed > 0)
