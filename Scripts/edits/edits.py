"""Lets tools change one value at a time in files, and prints what differs. Called by edits.sh.

usage: edits.py FILES FOLDER [TOOL=COMMAND …]
"""
import difflib, json, os, plistlib, shlex, subprocess, sys

source, folder, *named = sys.argv[1:]
commands = {name: shlex.split(command) for name, command in (each.split("=", 1) for each in named)}


def found(extension, load):
    """The different files with a dictionary at their top, sorted by their bytes."""
    texts = set()
    for place, _, names in os.walk(source):
        for name in names:
            if name.endswith(extension):
                with open(os.path.join(place, name), "rb") as file:
                    data = file.read()
                if len(data) > 200_000:
                    continue
                try:
                    if isinstance(load(data), dict):
                        texts.add(data)
                except Exception:
                    pass  # some files are wrong on purpose
    return sorted(texts)


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=300)
    return done.returncode == 0


def other(value):
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, (int, float)) else value + "-changed"


def scalars(values, path=()):
    for key, value in values.items():
        if isinstance(value, dict):
            yield from scalars(value, path + (key,))
        elif isinstance(value, (str, int, float)):
            yield path + (key,), value


def changes(values):
    """The path of each change, and the new value; None removes."""
    top = [(path, value) for path, value in scalars(values) if len(path) == 1]
    deep = [(path, value) for path, value in scalars(values) if len(path) > 1]
    return (
        [(path, other(value)) for path, value in top[:1]]
        + [(path, other(value)) for path, value in deep[:1]]
        + [(("newSetting",), "on")]
        + ([((list(values)[len(values) // 2],), None)] if values else [])
    )


def changed(values, path, value):
    place = values
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return values


def lines(before, after):
    rows = [data.decode("utf-8", "replace").split("\n") for data in (before, after)]
    codes = difflib.SequenceMatcher(None, *rows, autojunk=False).get_opcodes()
    return sum(end - begin + last - first for kind, begin, end, first, last in codes if kind != "equal")


def in_json(name, path, key, value):
    if name == "prefs":
        words = "".join(f"[{json.dumps(part)}]" for part in key)
        more = [words] if value is None else [words, json.dumps(value), "-t", "json"]
        return run(*commands[name], "unset" if value is None else "set", "-f", path, *more, "--force")
    if name == "jsonc-parser":
        return run(*commands[name], path, json.dumps(key), *([] if value is None else [json.dumps(value)]))

    def quoted(text):
        return "'" + text + "'" if "'" not in text else '"' + text + '"'

    place = f"/files{path}/dict" + "/dict".join(f"/entry[. = {quoted(json.dumps(part)[1:-1])}]" for part in key)
    if value is None:
        script = f"rm {place}\n"
    elif key == ("newSetting",):
        script = f"set /files{path}/dict/entry[last() + 1] newSetting\nset {place}/string on\n"
    else:
        kind = "const" if isinstance(value, bool) else "number" if isinstance(value, (int, float)) else "string"
        script = f"set {place}/{kind} {quoted(value if kind == 'string' else json.dumps(value))}\n"
    script = f"load\n{script}save\n"
    done = subprocess.run([*commands[name], "--transform", f"Json.lns incl {path}"], input=script, capture_output=True, text=True, timeout=300)
    return done.returncode == 0 and "Saved" in done.stdout + done.stderr


def in_list(name, path, key, value):
    if name == "prefs":
        return run(*commands[name], "set", "-f", path, f"[{json.dumps(key[0])}]", value, "-t", "string", "--force")
    if name == "plutil":
        return run(*commands[name], "-replace", key[0].replace(".", "\\."), "-string", value, path)
    if name == "plmerge":
        with open(folder + "/more.plist", "wb") as file:
            plistlib.dump({key[0]: value}, file)
        return run(*commands[name], path, folder + "/more.plist")
    with open(path, "rb") as file:
        values = changed(plistlib.load(file), key, value)
    with open(path, "wb") as file:
        plistlib.dump(values, file, sort_keys=False)
    return True


def count(name, kind, tasks, load, change):
    path = f"{folder}/settings.{kind.lower()}"
    failed = differ = wrong = kept = 0
    for before, key, value in tasks:
        for left in os.listdir(folder):
            if "settings." in left:
                os.remove(os.path.join(folder, left))
        with open(path, "wb") as file:
            file.write(before)
        if not change(name, path, key, value):
            failed += 1
            continue
        with open(path, "rb") as file:
            after = file.read()
        differ += lines(before, after)
        try:
            wrong += load(after) != changed(load(before), key, value)
        except Exception:
            wrong += 1
        if name == "prefs" and kind == "JSON":
            run(*commands[name], "undo", "-f", path)
            with open(path, "rb") as file:
                kept += file.read() != before
    print(f"| {name} | {kind} | {failed} | {differ:,} | {wrong} |", flush=True)
    if kept:
        sys.exit(f"edits: prefs undo did not revert {kept} changes")


texts = found(".json", json.loads)
lists = found(".plist", plistlib.loads)
of_json = [(data, key, value) for data in texts for key, value in changes(json.loads(data))]
of_lists = []
for data in lists:
    key = next((key for key, value in plistlib.loads(data).items() if isinstance(value, str)), None)
    if key is not None and data.lstrip().startswith(b"<"):
        of_lists.append((data, (key,), plistlib.loads(data)[key] + "-changed"))
print(f"{len(texts)} JSON files with {len(of_json)} changes, {len(of_lists)} property lists\n")
print("| tool | files | failed | lines that differ | wrong values |\n|---|---|---|---|---|")
for name in commands:
    if name in ("prefs", "jsonc-parser", "Augeas"):
        count(name, "JSON", of_json, json.loads, in_json)
for name in commands:
    if name in ("prefs", "plistlib", "plutil", "plmerge"):
        count(name, "XML", of_lists, plistlib.loads, in_list)
