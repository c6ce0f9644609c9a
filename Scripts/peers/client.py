"""A program that stores texts with the library that its first argument names. Answers each line `version`, `set KEY VALUE [TIME]` or
`get KEY` with one line: the version, "ok" or "error: …", the value or "default". Waits for TIME, in milliseconds since 1970, so that
two programs write at once."""
import configparser, os, platform, subprocess, sys, time

CONFIG = os.environ["XDG_CONFIG_HOME"]


def debian(package):
    query = ["dpkg-query", "-W", "-f", "${Version}", package]
    return subprocess.run(query, capture_output=True, text=True).stdout.split("-")[0] or "of unknown version"


class Settings:  # GSettings, with the backend that GSETTINGS_BACKEND names
    def __init__(self):
        from gi.repository import Gio, GLib

        self.glib, self.gio = GLib, Gio
        self.settings = Gio.Settings.new("org.example.peers")

    def version(self):
        return debian("dconf-service") if os.environ["GSETTINGS_BACKEND"] == "dconf" else "GLib " + debian("libglib2.0-0")

    def dispatch(self):  # what the main loop of a program does
        while self.glib.MainContext.default().iteration(False):
            pass

    def set(self, key, value):
        self.dispatch()
        done = self.settings.set_string(key, value)
        self.gio.Settings.sync()
        return done

    def get(self, key):
        self.dispatch()
        return self.settings.get_string(key)


class KeyFile:  # reads the file before each update, as one must if others write it
    path = CONFIG + "/peers.ini"

    def __init__(self):
        from gi.repository import GLib

        self.glib = GLib

    def version(self):
        return "GLib " + debian("libglib2.0-0")

    def load(self):
        file = self.glib.KeyFile()
        if os.path.exists(self.path):
            file.load_from_file(self.path, self.glib.KeyFileFlags.KEEP_COMMENTS)
        return file

    def set(self, key, value):
        file = self.load()
        file.set_string("peers", key, value)
        return file.save_to_file(self.path)

    def get(self, key):
        file = self.load()
        return file.get_string("peers", key) if file.has_group("peers") and key in file.get_keys("peers")[0] else ""


class Xfconf:
    def __init__(self):
        import gi

        gi.require_version("Xfconf", "0")
        from gi.repository import Xfconf

        Xfconf.init()
        self.channel = Xfconf.Channel.new("peers")

    def version(self):
        return subprocess.run(["xfconf-query", "--version"], capture_output=True, text=True).stdout.split("\n")[0].split()[-1]

    def set(self, key, value):
        return self.channel.set_string("/" + key, value)

    def get(self, key):
        return self.channel.get_string("/" + key, "")


class ConfigParser:  # reads the file before each update, too
    path = CONFIG + "/peers.ini"
    version = staticmethod(platform.python_version)

    def load(self):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(self.path)
        return parser

    def set(self, key, value):
        parser = self.load()
        if not parser.has_section("peers"):
            parser.add_section("peers")
        parser.set("peers", key, value)
        with open(self.path, "w") as file:
            parser.write(file)
        return True

    def get(self, key):
        return self.load().get("peers", key, fallback="")


class Dynaconf:
    path = CONFIG + "/settings.toml"

    def version(self):
        import dynaconf

        return getattr(dynaconf, "__version__", None) or __import__("importlib.metadata").metadata.version("dynaconf")

    def set(self, key, value):
        from dynaconf.loaders import toml_loader

        toml_loader.write(self.path, {key: value}, merge=True)
        return True

    def get(self, key):
        from dynaconf import Dynaconf

        return Dynaconf(settings_files=[self.path]).get(key, "")


class Tool:  # the command `prefs` of this package, a process for each command
    file = ["-f", CONFIG + "/peers.json"]

    def run(self, *arguments):
        done = subprocess.run([os.environ["PREFS"], *arguments], capture_output=True, text=True)
        if done.returncode:
            raise OSError(done.stderr or done.stdout)
        sys.stderr.write(done.stderr)
        return done.stdout.rstrip("\n")

    def version(self):
        return self.run("--version").split()[-1]

    def set(self, key, value):
        self.run("set", *self.file, "-t", "string", key, value)
        return True

    def get(self, key):
        return self.run("get", *self.file, "--default", "", key)


peer = {"settings": Settings, "keyfile": KeyFile, "xfconf": Xfconf, "configparser": ConfigParser, "dynaconf": Dynaconf, "tool": Tool}[sys.argv[1]]()
for line in sys.stdin:
    command, *words = line.split()
    while len(words) > 2 and time.time() * 1000 < int(words[2]):
        pass
    try:
        answer = getattr(peer, command)(*words[:2])
        answer = {True: "ok", False: "error: false", "": "default"}.get(answer, answer)
    except Exception as error:
        answer = f"error: {type(error).__name__}: {error}"
    print(" ".join(answer.split()), flush=True)
