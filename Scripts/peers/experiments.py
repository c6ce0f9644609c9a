"""Runs the four experiments of Scripts/peers.sh on the peers that its arguments name, NAME=COMMAND, and prints a table. The clients are started
with a home of their own below the current folder. Needs a mount namespace of its own for the full disk; without one, limits the sizes of
files."""
import contextlib, os, re, resource, select, shlex, shutil, signal, subprocess, sys, time
from pathlib import Path

ROUNDS = 200
PATIENCE = 20  # seconds to wait for an answer
BROKEN = "<broken line"
KEYS = {"a": "first", "b": "second", "c": "third"}
LONG = "x" * 8000  # more than a page of the small disk; Java allows 8,192

# The file below the home, a person's comment, seconds until a write is in the file, variables, and whether it needs a bus.
INI, XML = "# a note", "<!-- a note -->"
PEERS = {
    "dconf": (".config/dconf/user", None, 0, {"GSETTINGS_BACKEND": "dconf"}, True),
    "GSettings, keyfile": (".config/glib-2.0/settings/keyfile", INI, 0, {"GSETTINGS_BACKEND": "keyfile"}, False),
    "xfconf": (".config/xfce4/xfconf/xfce-perchannel-xml/peers.xml", XML, 8, {}, True),
    "KConfig": (".config/peersrc", INI, 0, {}, False),
    "QSettings": (".config/peers/peers.conf", "; a note", 0, {}, False),
    "GKeyFile": (".config/peers.ini", INI, 0, {}, False),
    "configparser": (".config/peers.ini", INI, 0, {}, False),
    "dynaconf": (".config/settings.toml", INI, 0, {}, False),
    "configstore": (".config/configstore/peers.json", "", 0, {}, False),
    "Java Preferences": (".java/.userPrefs/peers/prefs.xml", XML, 0, {}, False),
    "UserDefaults": (".config/peers.plist", XML, 0, {}, False),
    "prefs": (".config/peers.json", "// a note", 0, {}, False),
}


class Client:
    """One program that uses a peer."""

    def __init__(self, home):
        self.errors = open(home.folder + ".errors", "a+")
        self.process = subprocess.Popen(
            home.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=home.environment,
            cwd=home.runtime, restore_signals=False)

    def send(self, line):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()

    def answer(self):
        text = b""
        end = time.monotonic() + PATIENCE
        while not text.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                self.process.kill()
                return f"error: no answer in {PATIENCE} s"
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                return "error: the program ended"
            text += part
        return text.decode().strip()

    def ask(self, line):
        self.send(line)
        return self.answer()

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()


class Home:
    """A home folder with the file of one peer, and a bus if the peer needs one."""

    def __init__(self, name, command, folder):
        self.name, self.folder, self.command = name, folder, shlex.split(command)
        file, self.comment, self.delay, variables, self.needs_bus = PEERS[name]
        self.file = Path(folder, file)
        self.runtime = folder + ".run"
        for path in (folder + "/.config", self.runtime):
            os.makedirs(path, mode=0o700, exist_ok=True)
        self.environment = {
            **os.environ, **variables, "HOME": folder, "CFFIXED_USER_HOME": folder, "XDG_CONFIG_HOME": folder + "/.config",
            "XDG_RUNTIME_DIR": self.runtime, "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + self.runtime + "/bus",
            "JAVA_TOOL_OPTIONS": f"-Djava.util.prefs.userRoot={folder} -Djava.util.prefs.systemRoot={folder}", "LC_ALL": "C.UTF-8",
            **{f"XDG_{kind}_HOME": f"{folder}/.{kind.lower()}" for kind in ("DATA", "STATE", "CACHE")},
        }

    @contextlib.contextmanager
    def programs(self, count=1, delay=0):
        """Starts a bus and some clients, and ends all of them after a delay."""
        bus = None
        if self.needs_bus:
            bus = subprocess.Popen(
                ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address", "--address=" + self.environment["DBUS_SESSION_BUS_ADDRESS"]],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment, cwd=self.runtime, restore_signals=False)
            bus.stdout.readline()
        clients = [Client(self) for _ in range(count)]
        try:
            yield clients
            time.sleep(delay)
        finally:
            for client in clients:
                client.close()
            if bus:  # its services end with it
                bus.terminate()
                bus.wait()
                time.sleep(0.3)

    def ask(self, *lines):
        """The answers of a new program, which ends after its writes are in the file."""
        with self.programs(delay=self.delay if lines[0].startswith("set") else 0) as [client]:
            return [client.ask(line) for line in lines]

    def content(self):
        return self.file.read_bytes() if self.file.exists() else None


def short(answer):
    return "error" if answer.startswith("error") else answer


def lost_keys(home):
    stored = []
    with home.programs(2, home.delay) as clients:
        for client in clients:
            client.ask("version")
        for round in range(ROUNDS):
            moment = int(time.time() * 1000) + 5
            for name, client in zip("xy", clients):
                client.send(f"set {name}{round} stored {moment}")
            for name, client in zip("xy", clients):
                if client.answer() == "ok":
                    stored.append(f"{name}{round}")
    left = sum(answer == "stored" for answer in home.ask(*(f"get {key}" for key in stored)))
    rejected = 2 * ROUNDS - len(stored)
    return f"{len(stored) - left}" + (f", {rejected} rejected" if rejected else "")


def values_left(home):
    answers = home.ask(*(f"get {key}" for key in KEYS))
    found = sum(answer == value for answer, value in zip(answers, KEYS.values()))
    if found < len(KEYS) and any(short(answer) == "error" for answer in answers):
        return "error", answers
    return f"{found} of {len(KEYS)} values", answers


def broken_line(home, said):
    home.ask(*(f"set {key} {value}" for key, value in KEYS.items()))
    content = home.content()
    if home.comment is None:
        home.file.write_bytes(content[:len(content) // 2])
    else:
        home.file.write_bytes(re.sub(rb"(.*first.*\n)", lambda line: line[1] + BROKEN.encode() + b"\n", content, count=1))
    before = home.content()
    read, answers = values_left(home)
    said["read with a broken line"] = next((answer for answer in answers if short(answer) == "error"), "")
    after_read = home.content()
    answer, = home.ask("set d fourth")
    said["write with a broken line"] = answer
    after = home.content()
    if after == before:
        file = "file unchanged"
    else:
        file = "file replaced, " + values_left(home)[0] + " left"
        if BROKEN.encode() in (after or b""):
            file += " with the line"
    if after_read != before:
        read += " and an empty file" if after_read is not None else " and no file"
        if any(path.read_bytes() == before for path in home.file.parent.iterdir() if path.is_file()):
            read += ", moved aside"
    return f"{read}; write: {short(answer)}, {file}"


@contextlib.contextmanager
def full_disk(folder):
    """Makes a disk of 256 KB; its body fills it by calling the function that it gets."""
    os.makedirs(folder)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", folder], capture_output=True).returncode == 0

    def fill():
        if mounted:
            with contextlib.suppress(OSError), open(folder + "/filler", "wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    try:
        yield fill
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if mounted:
            subprocess.run(["umount", "--lazy", folder], check=True)


def disk(name, command, folder, said):
    with full_disk(folder) as fill:
        home = Home(name, command, folder)
        home.ask("set a first")
        before = home.content()
        fill()
        answer, = home.ask("set a " + LONG)
        said["write to a full disk"] = answer
        after = home.content()
        value, = home.ask("get a")
        *_, further = home.ask("set a " + LONG, "set b second")
    if after == before:
        file = "file kept"
    elif not after:
        file = "file of 0 bytes" if after is not None else "no file"
    else:
        file = f"file of {len(after)} bytes"
    value = "old value" if value == "first" else "new value" if value == LONG else "part of the new value" if value[0] == "x" else short(value)
    return f"{short(answer)}; {file}, read: {value}" + ("; the next write did not return" if "no answer" in further else "")


def persons_edit(home):
    if home.comment is None:
        return "binary"
    with home.programs(delay=home.delay) as [client]:
        for key in "a", "b":
            client.ask(f"set {key} {KEYS[key]}")
        time.sleep(home.delay)
        text = home.content().decode()
        lines = text.replace("second", "edited").splitlines(keepends=True)
        place = next(index for index, line in enumerate(lines) if "edited" in line)
        if home.comment:
            lines.insert(place, home.comment + "\n")
        copy = home.file.with_name("copy")  # as an editor saves
        copy.write_text("".join(lines))
        shutil.copymode(home.file, copy)
        copy.rename(home.file)
        time.sleep(1.5)
        client.ask("set c third")
    after = (home.content() or b"").decode()
    kept = lambda text: "yes" if text in after else "no"
    return f"{kept('edited')}; comment: {kept('a note') if home.comment else '–'}"


def main():
    print("| peer | lost of 400 updates | a broken line in the file | a full disk | a person's edit is kept |\n|---|---|---|---|---|", flush=True)
    notes = []
    for number, argument in enumerate(sys.argv[1:]):
        name, command = argument.split("=", 1)
        folder = f"{os.getcwd()}/{number}"
        home = lambda experiment: Home(name, command, folder + experiment)
        said = {}
        version, = home("version").ask("version")
        cells = [lost_keys(home("lost")), broken_line(home("broken"), said), disk(name, command, folder + "disk", said), persons_edit(home("edit"))]
        print("| " + " | ".join([f"{name} ({version})", *cells]) + " |", flush=True)
        notes += [f"{name}, {moment}: {text[:240]}" for moment, text in said.items() if short(text) == "error"]
    print("\nWhat they said:")
    print("\n".join(notes))


main()
