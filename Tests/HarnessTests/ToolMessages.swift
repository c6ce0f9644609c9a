import Testing

/// All messages of the tool, to be read aloud: what was expected, what was found and, where there is something to do, what.
///
/// `ToolMessageTests` runs the commands, and fails if a message in the sources is neither that of a row nor in `elsewhere`.
struct ToolMessage: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    /// `HOME` stands for the home folder.
    let message: String
    var code: Int32 = 1

    var testDescription: String { "\(arguments)" }
}

extension ToolMessage {
    static let all = usage.map { ToolMessage(arguments: $0.0, message: $0.1, code: 64) } + failures

    private static let listed = "; --help lists all"
    private static let dashes = "(put a value that begins with -- after a separate --)"
    private static let dash = "(put a value that begins with - after a separate --)"
    private static let exportRemedy = "(-o PATH writes to a file, -f exports a file)"
    private static let types = "string, integer, float, boolean, date, data, array, dictionary, json"

    /// Usage errors.
    static let usage: [([String], String)] = [
        (["bogus"], "unknown command `bogus`\(listed)"),
        ([""], "unknown command ``\(listed)"),
        (["GET", "int"], "unknown command `GET`; did you mean `get`?"),
        (["list"], "unknown command `list`; prefs has `show` for it"),
        (["read", "int"], "unknown command `read`; prefs has `get` for it"),
        (["write", "int", "5"], "unknown command `write`; prefs has `set` for it"),
        (["delete", "int"], "unknown command `delete`; prefs has `unset` for it"),
        (["-5"], "unknown command `-5`\(listed)"),
        (["--", "--json"], "unknown command `--json`\(listed)"),
        (["bo\ngus"], #"unknown command `bo\ngus`"# + listed),
        (["set", "string", "--bogus"], "unknown option `--bogus`\(listed) \(dashes)"),
        (["--rot=R"], "unknown option `--rot`; did you mean `--root`? \(dashes)"),
        (["--json=yes"], "--json takes no value"),
        (["--bo\ngus"], #"unknown option `--bo\ngus`"# + listed + " " + dashes),
        (["-x"], "unknown option `-x`\(listed) \(dash)"),
        (["show", "int", "string", "-F", "x"], "unknown option `-F`; did you mean `-f`? \(dash)"),
        (["get", "int", "-root", "R"], "unknown option `-root`; did you mean `--root`? \(dash)"),
        (["get"], "too few arguments for `get`: prefs get KEY …"),
        (["set"], "too few arguments for `set`: prefs set KEY [VALUE …]"),
        (["set", "int"], "too few arguments for `set`: set KEY VALUE"),
        (["set", "string", "a", "b"], "expected KEY=VALUE, found \"string\" (quote a value that contains spaces)"),
        (["set", "int", "1", "--from", "x"], "--from takes the place of VALUE: set KEY --from PATH"),
        (["set", "int", "1", "-t", "int"], "unknown type `int`; types are \(types)"),
        (["set", "int", "1", "-t", "bolean"], "unknown type `bolean`; did you mean `boolean`?"),
        (["set", "-f", "D", "k", "x", "-t", "integer"], "expected a 64-bit integer such as 42 or -7, found \"x\""),
        (["unset"], "expected prefs unset KEY … or prefs unset --all"),
        (["unset", "int", "--all"], "expected prefs unset KEY … or prefs unset --all"),
        (["schema", "x"], "too many arguments for `schema`: prefs schema (-f names the place)"),
        (["schema", "-f", "x.plist"], "only the program's settings have a schema; give --root NAME with -f"),
        (["show", "--stored"], "`show` does not accept --stored; it is an option of `get`"),
        (["edit", "D"], "too many arguments for `edit`: prefs edit (-f names the place)"),
        (["watch", "--replace"], "`watch` does not accept --replace; it is an option of `import`"),
        (["find"], "too few arguments for `find`: prefs find WORD"),
        (["diff", "a"], "too few arguments for `diff`: prefs diff WHERE WHERE"),
        (["undo", "D"], "too many arguments for `undo`: prefs undo (-f names the place)"),
        (["undo", "--force"], "`undo` does not accept --force; it is an option of \(forced)"),
        (["doctor", "a"], "too many arguments for `doctor`: prefs doctor (-f names the place)"),
        (["export", "mine.json"], "too many arguments for `export`: prefs export \(exportRemedy)"),
        (["import", "a.json", "b.json"], "too many arguments for `import`: prefs import [PATH]"),
        (["set", "string", "-o", "x"], "`set` does not accept -o; it is an option of `export`"),
        (["export", "--format", "pdf"], "unknown format `pdf`; formats are json, xml, binary"),
        (["export", "--format", "xml", "--format", "xml"], "--format is given twice; give it once"),
        (["import", "x", "--format", "xml"], "--format is the format of a file; name the file with -f"),
        (["export", "-o", "x.yaml"], "the extension .yaml names no format; give --format json, xml or binary"),
        (["doctor", "-f", "-", "--format", "yaml"], "unknown format `yaml`; formats are json, xml, binary"),
        (["cp", "int"], "`cp` needs the place of the copy: a key, FILE:KEY, or a second -f"),
        (["mv", "a.json:x", "b.json:y", "c.json"], "`mv` takes the values of one file at a time"),
        (["cp", "a", "b", "c"], "several values keep their keys; name only the file of the copies"),
        (["cp", "int", "new.json"], "`new.json` is neither a file nor a key; `new.json:` is a new file"),
        (
            ["cp", "int", "new.conf:n"],
            #"`new.conf:n` is neither FILE:KEY of a file nor a key; `["new.conf:n"]` is a new key"#
        ),
        (["cp"], "too few arguments for `cp`: prefs cp KEY … [TO]"),
        (
            ["get", "int", "-f", "etcd://ann:pw@localhost:1/p"],
            "etcd://localhost:1/p has roots; give --root NAME (`prefs show` lists them)"
        ),
        (
            ["get", "int", "-f", "http://x"],
            "\"etcd://…\" is not a URL of an etcd store: expected etcd://HOST:PORT/PREFIX"
        ),
        (["stress", "--threads", "0"], "--threads: expected a number from 1 to 64, found \"0\""),
        (["completions", "tcsh"], "unknown shell `tcsh`; completions are available for bash, zsh and fish"),
        (["help", "gt"], "unknown command or key `gt`; did you mean `get`?"),
        (["help", "dictionray"], "unknown command or key `dictionray`; did you mean `dictionary`?"),
        (["--root"], "--root needs a value: --root NAME"),
        (["set", "int", "5", "--root", "-f", "S"], "--root needs a value: --root NAME"),
        (["set", "int", "5", "-f", "--"], "-f needs a value: -f WHERE"),
        (["-f", "A", "-f", "B"], "-f is given twice; give it once"),
        (["cp", "-f", "A", "-f", "B", "-f", "C", "x"], "-f is given twice; give it once"),
        (["cp", "-f", "a.json", "b.json:y", "x", "c.json"], "`cp` takes the values of one file at a time"),
    ]
    private static let forced = "`set`, `unset`, `cp`, `mv`, `edit`, `export`, `import`"

    private static func failure(_ words: String, _ message: String, code: Int32 = 1) -> ToolMessage {
        ToolMessage(arguments: words.split(separator: " ").map(String.init), message: message, code: code)
    }

    /// The domain D has `Entry`, which is 1, and `Root.size`.
    private static let failures = [
        // Names, keys and paths.
        failure("-f .x", #"".x" is not a valid suite name: it begins with a dot"#),
        ToolMessage(arguments: ["-f", ""], message: #""" is not a valid suite name: it is empty"#),
        failure("-f /", #""/" is not the path of a file"#),
        ToolMessage(arguments: ["unset", "--all", "--root", ""], message: #""" is not a valid root key: it is empty"#),
        ToolMessage(
            arguments: ["set", "-f", "../D", "", "v"],
            message: "expected a key or a path such as a.b[0], found an empty text"),
        failure(
            "get int..x",
            #"expected a key or a path such as a.b[0], found `int..x`; a new key of that name is written 'int\.\.x'"#),
        ToolMessage(
            arguments: ["unset", "a\nb\u{1B}[1m"],
            message: #"expected a key or a path such as a.b[0], found `a\nb\u{1b}[1m`; "#
                + #"a new key of that name is written '["a\nb\u001b[1m"]'"#),
        failure("get strng", "no key `strng`; did you mean `string`?"),
        failure("set Int abc", "no key `Int`; did you mean `int`?"),
        ToolMessage(
            arguments: ["unset", "integer value"], message: "no key `integer value`; did you mean `Integer Value`?"),
        ToolMessage(
            arguments: ["get", "no\npe\u{1B}m"],
            message: #"no key `no\npe\u{1b}m`; keys are int (Integer Value), string (String Value), "#
                + "array (Array Value), dictionary (Dictionary Value), date (Date Value)"),
        failure("show -f Nowhere", #"UserDefaults suite "Nowhere" not found: HOME/.config/Nowhere.plist"#),
        failure("unset -f Nowhere k", #"UserDefaults suite "Nowhere" not found: HOME/.config/Nowhere.plist"#),
        failure("get -f D Rot", "`Rot` is not set; did you mean `Root`?"),
        failure("get -f D Root.sise", "`Root.sise` is not set; did you mean `size`?"),
        failure("get -f D Root.other", "`Root.other` is not set"),
        failure("get --type -f D Entry.k", "`Entry.k` is not set"),
        failure("unset -f D Root.sise", "`Root.sise` is not set; did you mean `size`?"),
        failure("get int --stored -f /nonexistent/x --root PrefsTestSet", "`int` is not set"),
        failure("set -f D Entry.k v", "`Entry`: expected a dictionary, found type integer"),
        failure("set -f D Entry[0] v", "`Entry`: expected an array, found type integer"),
        failure("set -f D list[1] x", "there is no element 1 of `list`, which has 0 elements"),
        failure("import /nonexistent/y.json", "/nonexistent: open: No such file or directory"),
        // Values.
        failure(
            "set int abc -f /nonexistent/x --root PrefsTestSet",
            #"int: expected Int, found "abc": not a number"#),
        // Not "out of range": no integer is written like this.
        failure("set int 0x50", #"int: expected Int, found "0x50": not a number"#),
        failure("set int 0x1p3", #"int: expected Int, found "0x1p3": not a number"#),
        failure("set int 1_000", #"int: expected Int, found "1_000": not a number"#),
        ToolMessage(
            arguments: ["set", "Integer Value", "x"],
            message: #"Integer Value: expected Int, found "x": not a number"#),
        failure("set -f D R.k x -t integer", #"expected a 64-bit integer such as 42 or -7, found "x""#, code: 64),
        failure("set -f D R.k x -t float", #"expected a number such as 12.5, found "x""#, code: 64),
        failure("set -f D R.k 1e400 -t float", #"expected a number such as 12.5, found "1e400""#, code: 64),
        failure("set -f D R.k maybe -t boolean", #"expected true or false, found "maybe""#, code: 64),
        failure(
            "set -f D R.k today -t date", #"expected a date such as 2026-11-23 or 2026-11-23T10:00:00Z, found "today""#,
            code: 64),
        failure("set -f D R.k ? -t data", #"expected a base64 text such as SGVsbG8=, found "?""#, code: 64),
        failure("set -f D R.k { -t array", #"expected a list such as a,b or ["a","b"], found "{""#, code: 64),
        failure(
            "set -f D R.k x -t dictionary", #"expected a dictionary such as k=v or {"k":"v"}, found "x""#, code: 64),
        failure(
            "set -f D R.k [1, -t json",
            "[1,: line 1, column 4: expected a value before the end of the data (at [1])", code: 64),
        failure(
            "set -f D R.k null -t json",
            "null: line 1, column 1: null cannot be stored in a property list; leave it out",
            code: 64),
        failure(
            #"set -f D R.k {"CF$UID":1} -t json --nest"#,
            "R.k: a dictionary of a lone number CF$UID cannot be stored in a property list"),
        failure("set -f D Entry +x", #"expected a 64-bit integer such as 1 or -7, found "x""#),
        failure("set -f D Entry +18446744073709551615", "`Entry`: the sum is beyond 64 bits"),
        failure(
            "set -f D Root.size +1e-300",
            "`Root.size` has too many digits, so adding 1e-300 would change nothing"),
        failure("set -f D Root.size +x", #"expected a number such as 0.5, found "x""#),
        failure(
            "set string toggle",
            "`String Value` is of type string, so `toggle` cannot change it; -t string stores the text"),
        failure(
            "set -f D new {a:1}",
            "`{a:1}` is not JSON: line 1, column 2: expected a key in quotes; -t string stores the text"),
        failure("set -f D new TRUE", "`TRUE` is not JSON; write true, or -t string stores the text"),
        failure("set -f D new 1e400", "`1e400` is beyond the range of numbers; -t string stores the text"),
        failure(
            "set -f D new null",
            "null cannot be stored in a property list; unset removes a value, -t string stores the text"),
        failure("set -f D new +1", "`new` is not set, so `+1` has nothing to start from; -t string stores the text"),
        failure("set -f D Entry 2 --if 5", "`Entry`: expected 5, found 1; nothing has changed"),
        failure("set -f D new 2 --if 5", "`new`: expected 5, found no value; nothing has changed"),
        failure("unset -f D Root[0] Root[0]", "`Root[0]` is named twice; name it once"),
        failure(
            "unset -f D Root[0] Root[1]",
            "`Root[0]` and `Root[1]` are in one array, and the removal of the first moves the other; "
                + "remove the first in a command of its own"
        ),
        // What needs a confirmation.
        failure("unset -f D Root", "the dictionary `Root` would be removed; --force does it; nothing has changed"),
        failure(
            "set -f D Entry toggle",
            "`Entry` is of type integer, so `toggle` cannot change it; -t string stores the text"),
        failure(
            "unset --all -f D",
            #"all entries of the UserDefaults suite "D" would be removed; --force does it; nothing has changed"#),
        failure("undo -f D", "nothing to undo: no write of yours to HOME/.config/D.plist is left"),
        failure(
            "edit", "`edit` needs a terminal, or an editor in VISUAL or EDITOR that needs none; use `prefs set`",
            code: 64),
        failure("show --domains int", "--domains lists all domains; leave out --domains or the keys", code: 64),
        failure("show --domains -f D", "--domains takes all domains; leave out --domains or -f", code: 64),
        failure("find x --domains --root R", "--domains takes all domains; leave out --domains or --root", code: 64),
        failure("set int 1 --timeout x", #"--timeout: expected seconds from 0 to 86400, found "x""#, code: 64),
        failure(
            "set int 1 --timeout 86400.5", #"--timeout: expected seconds from 0 to 86400, found "86400.5""#, code: 64),
        failure("set int 1 --timeout=-1", #"--timeout: expected seconds from 0 to 86400, found "-1""#, code: 64),
        failure("set int 1 --timeout 1e9", #"--timeout: expected seconds from 0 to 86400, found "1e9""#, code: 64),
        failure("set int 1 --timeout nan", #"--timeout: expected seconds from 0 to 86400, found "nan""#, code: 64),
    ]

    /// The messages of the sources that other suites meet: in the editor, on terminals, on damaged files and on remote stores.
    static let elsewhere: Set<String> = [
        // Editors, and terminals.
        "`edit` does not support --json", "nothing has changed", "expected a line in UTF-8, found other bytes",
        "the editor ended with …: …", "…; your text is in …", "this platform starts no programs",
        "another process has changed more than values in …, and so have you; nothing has changed",
        "……; there is no last good copy to restore, so correct the file; nothing has changed",
        // Sensitive values.
        "…; --reveal opens the text, with the sensitive values",
        // nil, which `OthersJSONTests` assigns.
        "…: a property list has no null, and without a value the default … is read",
        // Copies from JSON.
        "`…`: … cannot be stored in a property list",
        // With --json, it is no error.
        "--sources is an option of --json; the table of settings has the sources",
        "…: cannot make a folder: …", "… has changed in the meantime and cannot be merged: …",
        "binary output cannot be written to a terminal; give -o PATH or redirect the output",
        // Decimals, which `FieldByFieldTests` adds.
        "`…`: the sum has more than 38 digits",
        // Numbers of JSON, which `HarnessKeptTypeTests` adds.
        "…: the sum is too large for a number",
        // Files that the words name, and streams.
        "the folder … does not exist; nothing was created", "… does not exist; --format json, xml or binary creates it",
        "… is a pipe; only `-f -` can be written, to the standard output", "expected a file, found …",
        "`…` is sensitive; --reveal prints it", "`…` is sensitive; --reveal copies it",
        "`…` has changed meanwhile; it was copied and stays",
        "… has `…` at its top and no root `…`; leave out --root",
        "…: property lists in the OpenStep format, such as .strings files, are not read", "`…` is not a file",
        "`…`: dots stand for a hidden value and cannot be stored",
        // Places without a file.
        "--timeout is for the lock of a file; … has none", "undo is not available for the …: it has no file",
        "expected a file or a UserDefaults domain, found the URL …", "… cannot be watched, because it has no file",
        "… has no file", "… has roots and no file; give --root NAME",
        // Files of others, and contents.
        "HOME is not an absolute path", "HOME is not set", "larger than … MiB", "… belongs to another user",
        "… is not valid UTF-8",
        "…: cannot be listed", "…: has changed since the write that would be reverted", "no field `…`…",
    ]
}
