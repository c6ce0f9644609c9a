"""Runs programs that save a file, slowly, and says what a reader finds meanwhile. Called by moments.sh.

usage: moments.py FOLDER [PROGRAM …]
"""
import json, os, pty, select, shlex, shutil, subprocess, sys, threading, time

MISSING, FOLDER, ZEROS, MIXTURE, PART, WHOLE = (
    "no file", "no folder", "zeros of full size, then the bytes", "a mixture of the old and the new text",
    "an empty file, then a part of it", "never more or less than a file")

# A word for the command line; the name in the table; the moment; a preparation; what saves $FILE, with the new text in $NEW, or
# the keys that are typed into a program on a terminal. Another program is needed if its name is not the first word.
VIM = """vim -u NONE -i NONE -n -N -es -c '1s/0/1/' -c 'write! | quit!' "$FILE" """
EMACS = """emacs -Q --batch --eval '(progn (find-file (getenv "FILE")) (goto-char 1) (search-forward "0") (replace-match "1") (save-buffer))'"""
PERL = """ -e 's/"round": 0/"round": 1/' "$FILE" """
PATCH = """ -s "$FILE" "$WORK/new.patch" """
DIFF = """diff -u "$FILE" "$NEW" >"$WORK/new.patch" || true"""
GIT = """cd "${FILE%/*}"; git init -q; git config user.name T; git config user.email t@example.com; git add .; git commit -qm 0
    cp "$NEW" "$FILE"; git commit -qam 1; git reset -q --hard HEAD~; git branch new ORIG_HEAD"""
UNISON = """mkdir "$WORK/other"; cp "$FILE" "$WORK/other"; unison -batch -silent "${FILE%/*}" "$WORK/other"; cp "$NEW" "$WORK/other/${FILE##*/}" """
RESTIC = """export RESTIC_PASSWORD=x; mkdir "$WORK/in"; cp "$NEW" "$WORK/in/${FILE##*/}"; restic -q -r "$WORK/repo" init
    cd "$WORK/in"; restic -q -r "$WORK/repo" backup ."""
SYNCTHING = r"""
    for n in 1 2; do syncthing generate --home "$WORK/$n" >/dev/null; done
    one=$(syncthing --device-id --home "$WORK/1") two=$(syncthing --device-id --home "$WORK/2")
    ports=($(python3 -c 'import socket; print(*[each.getsockname()[1] for each in [socket.create_server(("127.0.0.1", 0)) for _ in "12"]])'))
    mkdir "$WORK/other" "$WORK/other/.stfolder" "${FILE%/*}/.stfolder"; cp -p "$FILE" "$WORK/other"
    for n in 1 2; do
        [ $n = 1 ] && path="$WORK/other" || path="${FILE%/*}"
        { echo "<configuration version='36'><folder id='s' path='$path' type='sendreceive' rescanIntervalS='2' fsWatcherEnabled='false'>"
          echo "<device id='$one'/><device id='$two'/></folder>"
          echo "<device id='$one'><address>tcp://127.0.0.1:${ports[0]}</address></device>"
          echo "<device id='$two'><address>tcp://127.0.0.1:${ports[1]}</address></device>"
          echo "<gui enabled='false'/><options><listenAddress>tcp://127.0.0.1:${ports[n - 1]}</listenAddress>"
          for name in globalAnnounce localAnnounce relays nat crashReporting; do echo "<${name}Enabled>false</${name}Enabled>"; done
          echo "<urAccepted>-1</urAccepted><autoUpgradeIntervalH>0</autoUpgradeIntervalH></options></configuration>"
        } >"$WORK/$n/config.xml"
    done"""
SYNC = """for n in 1 2; do syncthing serve --no-browser --no-restart --home "$WORK/$n" >"$WORK/log$n" 2>&1 & done
    trap 'kill $(jobs -p)' EXIT; sleep 20; cp "$NEW" "$WORK/other/${FILE##*/}"
    for n in $(seq 400); do sleep 0.1; cmp -s "$NEW" "$FILE" && exit 0; done; exit 1"""
PROGRAMS = [
    ("vim", "vim", MISSING, "", VIM),
    ("emacs", "emacs (the first save)", MISSING, "", EMACS),
    ("git", "git checkout", MISSING, GIT, 'git -C "${FILE%/*}" checkout -q new -- "${FILE##*/}"'),
    ("tar", "tar x", MISSING, 'mkdir "$WORK/in"; cp "$NEW" "$WORK/in/${FILE##*/}"; tar cf "$WORK/a.tar" -C "$WORK/in" .', 'tar xf "$WORK/a.tar" -C "${FILE%/*}"'),
    ("install", "install", MISSING, "", 'install -m 644 "$NEW" "$FILE"'),
    ("cp.remove", "cp --remove-destination", MISSING, "", 'cp --remove-destination "$NEW" "$FILE"'),
    ("cp.backup", "cp --backup", MISSING, "", 'cp --backup "$NEW" "$FILE"'),
    ("mv.backup", "mv --backup", MISSING, 'cp "$NEW" "$FILE.new"', 'mv --backup "$FILE.new" "$FILE"'),
    ("patch.backup", "patch -b", MISSING, DIFF, "patch -b" + PATCH),
    ("sed.backup", "sed -i.bak", MISSING, "", """sed -i.bak 's/"round": 0/"round": 1/' "$FILE" """),
    ("perl.backup", "perl -pi.bak (from the second save on)", MISSING, 'touch "$FILE.bak"', "perl -pi.bak" + PERL),
    ("syncthing", "syncthing", MISSING, SYNCTHING, SYNC),
    ("restic", "restic (restore)", ZEROS, RESTIC, 'RESTIC_PASSWORD=x restic -q -r "$WORK/repo" restore latest --target "${FILE%/*}"'),
    ("ftruncate", "programs that call ftruncate first", ZEROS, "", "python3 -c 'import os; new = open(os.environ[\"NEW\"], \"rb\").read(); "
     "file = os.open(os.environ[\"FILE\"], os.O_WRONLY | os.O_TRUNC); os.ftruncate(file, len(new)); os.write(file, new)'"),
    ("rsync.inplace", "rsync --inplace", MIXTURE, "", 'rsync -aI --inplace --no-whole-file "$NEW" "$FILE"'),
    ("dd", "dd conv=notrunc", MIXTURE, "", 'dd if="$NEW" of="$FILE" bs=4k conv=notrunc status=none'),
    ("folder", "mv app app.old; mv app.new app", FOLDER, 'cp -a "${FILE%/*}" "$WORK/new"; cp "$NEW" "$WORK/new/${FILE##*/}"',
     'mv "${FILE%/*}" "$WORK/old"; mv "$WORK/new" "${FILE%/*}"'),
    ("vim.link", "vim through a link", PART, 'mv "$FILE" "$WORK/target"; ln -s "$WORK/target" "$FILE"', VIM),
    ("vim.tmp", "vim below $TMPDIR", PART, "", VIM),
    ("emacs.tmp", "emacs below $TMPDIR", PART, "", EMACS),
    ("cp", "cp", PART, "", 'cp "$NEW" "$FILE"'),
    ("ed", "ed", PART, "", """printf '1s/0/1/\\nw\\nq\\n' | ed -s "$FILE" """),
    ("sh", "> of a shell", PART, "", 'cat "$NEW" >"$FILE"'),
    ("nano", "nano", PART, "", ['nano -I "$FILE"', "x", "\x13", "\x18"]),
    ("micro", "micro", PART, "", ['micro "$FILE"', "x", "\x13", "\x11"]),
    ("joe", "joe", PART, "", ['joe "$FILE"', "x", "\x0bx"]),
    ("ne", "ne", PART, "", ['ne --no-config "$FILE"', "x", "\x0bSave\r", "\x0bExit\r"]),
    ("kak", "kakoune", PART, "", """kak -n -ui dummy -e 'exec ix<esc>; write; quit' "$FILE" """),
    ("sed", "sed -i", WHOLE, "", """sed -i 's/"round": 0/"round": 1/' "$FILE" """),
    ("perl", "perl -pi", WHOLE, "", "perl -pi" + PERL),
    ("perl.backup.first", "perl -pi.bak (the first save)", WHOLE, "", "perl -pi.bak" + PERL),
    ("rsync", "rsync", WHOLE, "", 'rsync -aI "$NEW" "$FILE"'),
    ("mv", "mv", WHOLE, 'cp "$NEW" "$FILE.new"', 'mv "$FILE.new" "$FILE"'),
    ("patch", "patch", WHOLE, DIFF, "patch" + PATCH),
    ("unison", "unison", WHOLE, UNISON, 'unison -batch -silent "${FILE%/*}" "$WORK/other"'),
    ("ansible", "the copy of ansible", WHOLE, "", 'ansible localhost -m copy -a "src=$NEW dest=$FILE"'),
]
CALLS = ("creat,rename,renameat,renameat2,unlink,unlinkat,link,linkat,write,pwrite64,writev,ftruncate,truncate,fallocate,"
         "copy_file_range,sendfile,symlink,symlinkat")
# Milliseconds before and after each call. A machine that is busy needs more for the same find.
DELAYS = (10, 40, 100)


def slowed(delay):
    return f"strace -f -qq -o /dev/null -e trace={CALLS} -e inject={CALLS}:delay_enter={delay}000:delay_exit={delay}000"


class Reader(threading.Thread):
    """Reads the file again and again, and keeps all different contents; None for no file, and a word for no folder."""

    def __init__(self, path):
        super().__init__()
        self.path, self.found, self.ends = path, [], False

    def look(self):
        try:
            with open(self.path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            data = None if os.path.isdir(os.path.dirname(self.path)) else FOLDER
        if data not in self.found[-1:]:
            self.found.append(data)

    def run(self):
        while not self.ends:
            self.look()
        self.look()


def typed(command, keys, environment, delay):
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe("sh", ["sh", "-c", f"stty -ixon rows 24 cols 80; exec {slowed(delay)} {command}"], environment)
    for text in [None, *keys]:
        if text:
            os.write(terminal, text.encode())
        quiet = time.monotonic() + 3
        while time.monotonic() < quiet and select.select([terminal], [], [], 1.5)[0]:
            try:
                os.read(terminal, 65536)
            except OSError:
                break
    end = time.monotonic() + 60
    while os.waitpid(process, os.WNOHANG)[0] == 0:
        if time.monotonic() > end:
            os.kill(process, 9)
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                os.read(terminal, 65536)
            except OSError:
                pass
    os.close(terminal)


def moment(found, old, new):
    if FOLDER in found:
        return FOLDER
    if None in found:
        return MISSING
    others = [data for data in found if data not in (old, new)]
    if any(data and len(data) >= len(new) // 2 and not data.strip(b"\0") for data in others):
        return ZEROS
    if any(data and not new.startswith(data) for data in others):
        return MIXTURE
    return PART if others else WHOLE


def run(folder, word, preparation, save, delay):
    work = f"{folder}/saves/{word}-{delay}"
    settings = f"{folder}/tmp/{word}-{delay}" if word.endswith(".tmp") else f"{work}/settings"
    os.makedirs(settings)
    os.makedirs(work, exist_ok=True)
    file, new = settings + "/config.json", work + "/new.json"
    texts = [json.dumps({"round": n, "list": [f"{n} {i}" for i in range(40_000)]}, indent=1).replace("{\n ", "{", 1) + "\n" for n in (0, 1)]
    for path, text in ((file, texts[0]), (new, texts[1])):
        with open(path, "w") as opened:
            opened.write(text)
    environment = {**os.environ, "FILE": file, "NEW": new, "WORK": work, "GIT_CONFIG_NOSYSTEM": "1", "ANSIBLE_LOCALHOST_WARNING": "no"}
    subprocess.run(["bash", "-ec", preparation], env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    old = texts[0].encode()
    reader = Reader(file)
    reader.look()
    reader.start()
    try:
        if isinstance(save, list):
            typed(save[0].replace('"$FILE"', shlex.quote(file)), save[1:], environment, delay)
        else:
            subprocess.run([*slowed(delay).split(), "bash", "-ec", save], env=environment, check=True, timeout=240, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    finally:
        reader.ends = True
        reader.join()
    last = reader.found[-1]
    if last is None or last == old:
        return "has saved nothing"
    return moment(reader.found, old, last)


folder, *wanted = sys.argv[1:]
rows, differ = {}, 0
for word, name, expected, preparation, save in PROGRAMS:
    if wanted and word not in wanted:
        continue
    program = shlex.split((save[0] if isinstance(save, list) else save).replace("RESTIC_PASSWORD=x ", ""))[0]
    if not shutil.which({"cat": "sh", "printf": "ed", "for": "syncthing"}.get(program, program)):
        print(f"moments: {name} skipped, it cannot be had", file=sys.stderr)
        continue
    for delay in DELAYS:
        try:
            found = run(folder, word, preparation, save, delay)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            found = "has failed: " + (error.stderr or b"").decode().strip()[-200:]
        if found == expected:
            break
    rows.setdefault(found, []).append(name)
    if found != expected:
        differ += 1
        print(f"moments: {name}: expected {expected}, found {found}", file=sys.stderr)
for found, names in rows.items():
    print(f"| {found} | {', '.join(names)} |")
sys.exit(differ > 0)
