"""Compares what libraries read with what prefs stored, and what prefs changes in their files with one value. Called by json.sh.

usage: compare.py FOLDER PREFS [LIBRARY=COMMAND …]
"""
import json, math, os, plistlib, random, re, shlex, struct, subprocess, sys

folder, prefs, *named = sys.argv[1:]
commands = {name: shlex.split(command) for name, command in (each.split("=", 1) for each in named)}

# The options of a tool for each style. What it prints in the first style is what it has read.
TOOLS = {
    "tool/jq": {"spaces": ["."], "compact": ["-c", "."], "sorted": ["-S", "--tab", "."], "ascii": ["-a", "--indent", "7", "."]},
    "tool/gojq": {"spaces": ["."], "compact": ["-c", "."], "tabs": ["--tab", "."]},
    "tool/yq": {"spaces": ["."]},
    "tool/jshon": {"spaces": ["-S"]},
    "tool/json_pp": {"pretty": [], "compact": ["-json_opt", "utf8,canonical"], "ascii": ["-json_opt", "ascii,space_before,indent"]},
}
# These write no JSON, or refuse the documents: json-smart because of U+007F, yq because of U+FFFE.
READ_ONLY = {
    "tool/yq", "Java/json-smart", "Python/pysimdjson", "Python/pyjson5", "Python/pyyaml", "Python/ruamel.yaml", "Python/jsonc-parser",
    "Node.js/js-yaml", "Node.js/json5", "Ruby/psych"}
# These have no integers: an integer is the nearest double.
DOUBLES = {
    "tool/jq", "tool/yq", "Python/quickjs", "Python/dukpy", "Node.js/JSON", "Node.js/json5", "Node.js/js-yaml", "Lua/cjson",
    "Lua/dkjson", "R/jsonlite", "C/cJSON"}
# What a library reads otherwise: for each kind of value, the first that differs.
ANY = "another one"
KNOWN = {
    "tool/yq": {
        "U+FFFE": "refused",
        "U+FFFF": "refused",
    },
    "tool/jshon": {
        "U+0000": "refused",
        "U+0000 in a key": "refused",
        "integers above Int64.max": "refused",
    },
    "tool/json_pp": {
        "U+FFFE": ".k 'a\\ufffeb' is 'a\\ufffdb'",
        "U+FFFF": ".k 'a\\uffffb' is 'a\\ufffdb'",
        "noncharacters above U+FFFF": ".k '\\U0001fffe\\U0010ffff' is '\\ufffd\\ufffd'",
        "-0.0": ".k -0.0 is 0.0",
        "17 digits": ".k[0] 0.30000000000000004 is 0.3",
        "exponents": ".k[8] 1.7976931348623157e+308 is inf",
        "small doubles": ".k[1] 2.2250738585072014e-308 is 2.2250738585072e-308",
        "random doubles": ".k[0] 5.612350177107035e+202 is 5.61235017710703e+202",
        "random documents": ANY,
    },
    "Python/sqlite3": {
        "U+0000": ".k 'a\\x00b' is 'a'",
        "U+0000 in a key": ".k: keys ['a'] for ['a\\x00b']",
        "integers above Int64.max": ".k[1] 18446744073709551615 is 1.8446744073709552e+19",
    },
    "Python/pyjson5": {
        "60 levels": "refused",
    },
    "Python/hjson": {
        "-0.0": ".k -0.0 is 0.0",
    },
    "Python/pyyaml": {
        "U+FFFE": "refused",
        "U+FFFF": "refused",
        "whole numbers": ".k[4] 1e+16 is '1e+16'",
        "exponents": ".k[0] 1e+21 is '1e+21'",
        "small doubles": ".k[0] 5e-324 is '5e-324'",
    },
    "Python/ruamel.yaml": {
        "U+FFFE": "refused",
        "U+FFFF": "refused",
    },
    "Python/jsonc-parser": {
        "// in a text": "refused",
        "\"// in a text": "refused",
        "\"/* in a text": '.k \'a"/*b*/c\' is \'a"c\'',
        "random documents": "refused",
    },
    "Python/yapic.json": {
        "noncharacters above U+FFFF": "refused",
        "characters above U+FFFF": "refused",
        "texts that look like other values": ".k[6] '2026-01-01' is 'type date'",
        "integers above Int64.max": ".k[1] 18446744073709551615 is 1.8446744073709552e+19",
        "random documents": "refused",
    },
    "Ruby/psych": {
        "U+FFFE": "refused",
        "U+FFFF": "refused",
        "whole numbers": ".k[4] 1e+16 is '1e+16'",
        "exponents": ".k[0] 1e+21 is '1e+21'",
        "small doubles": ".k[0] 5e-324 is '5e-324'",
    },
    "Perl/JSON::XS": {
        "Int64": ".k[1] -9223372036854775808 is '-9223372036854775808'",
        "exponents": ".k[2] 1e+23 is 1.0000000000000001e+23",
        "small doubles": ".k[0] 5e-324 is 0.0",
        "random doubles": ".k[10] 2.538149452935017e+209 is 2.5381494529350172e+209",
    },
    "Java/Gson": {
        "integers above Int64.max": ".k[1] 18446744073709551615 is 1.8446744073709552e+19",
    },
    "Java/json-simple": {
        "-0.0": ".k -0.0 is 0.0",
    },
    "Java/json-smart": {
        "random documents": "refused",
    },
    "Java/Android": {
        "integers above Int64.max": ".k[1] 18446744073709551615 is 1.8446744073709552e+19",
    },
    "PHP/json": {
        "integers above Int64.max": ".k[1] 18446744073709551615 is 1.8446744073709552e+19",
    },
    "Lua/cjson": {
        "Booleans and empty ones": ".k[3] {} is []",
        "random documents": ANY,
    },
    "R/jsonlite": {
        "U+0000": ".k 'a\\x00b' is 'a'",
        "U+0000 in a key": ".k: keys ['a'] for ['a\\x00b']",
    },
    "C/jansson": {
        "U+0000 in a key": "refused",
        "integers above Int64.max": "refused",
    },
    "C/json-c": {
        "U+0000 in a key": ".k: keys ['a'] for ['a\\x00b']",
        "60 levels": "refused",
    },
    "C/cJSON": {
        "U+0000": ".k 'a\\x00b' is 'a'",
        "U+0000 in a key": ".k: keys ['a'] for ['a\\x00b']",
    },
    "C/yajl": {
        "U+0000": ".k 'a\\x00b' is 'a'",
        "U+0000 in a key": ".k: keys ['a'] for ['a\\x00b']",
        "integers above Int64.max": ".k[1] 18446744073709551615 is 1.8446744073709552e+19",
    },
    "C/json-glib": {
        "U+0000": ".k 'a\\x00b' is 'a'",
        "U+0000 in a key": ".k: keys ['a'] for ['a\\x00b']",
        "integers above Int64.max": ".k[0] 9223372036854775808 is -9223372036854775808",
    },
    "Rust/serde_json": {
        "17 digits": ".k[5] 5.684341886080802e-14 is 5.684341886080803e-14",
        "random doubles": ".k[1] 1.5355697530503638e+66 is 1.535569753050364e+66",
        "random documents": ANY,
    },
    "Swift/JSONSerialization": {
        "U+FEFF": ".k '\\ufeffa\\ufeff' is 'a\\ufeff'",
        "17 digits": ".k[0] 0.30000000000000004 is 0.3000000000000001",
        "random doubles": ".k[1] 1.5355697530503638e+66 is 1.5355697530503636e+66",
        "random documents": ANY,
    },
    "Swift/JSONDecoder": {
        "-0.0": ".k -0.0 is 0.0",
    },
}


# MARK: - What is stored


def documents(count, mild):
    """Random dictionaries. Mild ones have no U+FFFE, no U+FFFF and no null, and no very large or small numbers."""
    numbers = random.Random(20261201)

    def text():
        kinds = ["abcXYZ 09_-.", "\"\\/'#{}[]:,", "éßñ\u0301Жλ漢字", "\u2028\u2029\u00a0\ufeff", "😀𝄞\U0010fffd"]
        kinds += ["\t\n\r\b\f\u0001\u001f\u007f\u0085"] + ([] if mild else ["\ufffd\ufffe\uffff"])
        characters = numbers.choice(kinds) + numbers.choice(kinds)
        return "".join(numbers.choice(characters) for _ in range(numbers.randrange(12)))

    def number():
        kind = numbers.randrange(4)
        if kind == 0:
            return numbers.randrange(-100, 1000)
        if kind == 1:
            return numbers.randrange(-(2**53), 2**53)
        if kind == 2:
            return numbers.choice([0.5, -1.25, 100.0, 1e15, 3.0])
        return numbers.uniform(-1000, 1000) if mild else math.ldexp(numbers.uniform(-1, 1), numbers.randrange(-300, 300))

    def value(depth):
        kind = numbers.randrange(9 if depth else 6)
        if kind < 2:
            return text()
        if kind < 4:
            return number()
        if kind < 5:
            return numbers.random() < 0.5
        if kind == 5:
            return "" if mild else None
        if kind == 6:
            return [value(depth - 1) for _ in range(numbers.randrange(5))]
        return {text() or "key": value(depth - 1) for _ in range(numbers.randrange(5))}

    def document():
        return {text() or "key": value(3) for _ in range(numbers.randrange(2, 9))}

    return [document() for _ in range(count)]


def deep(depth):
    value = "end"
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


def doubles():
    numbers = random.Random(17)
    bits = [numbers.getrandbits(64) for _ in range(400)]
    values = [struct.unpack(">d", number.to_bytes(8, "big"))[0] for number in bits]
    return [value for value in values if math.isfinite(value)]


class Null:
    """Only JSON has it."""


KINDS = {
    "U+0000": "a\0b",
    "U+0000 in a key": {"a\0b": 1},
    "control characters": "".join(map(chr, range(1, 0x20))),
    "U+007F to U+009F": "".join(map(chr, range(0x7F, 0xA0))),
    "U+2028 and U+2029": "a\u2028b\u2029c",
    "U+FEFF": "\ufeffa\ufeff",
    "U+FFFE": "a\ufffeb",
    "U+FFFF": "a\uffffb",
    "noncharacters above U+FFFF": "\U0001fffe\U0010ffff",
    "characters above U+FFFF": "😀\U00010000\U0010fffd",
    "combining characters": {"e\u0301": ["é", "e\u0301", "\u1e9b\u0323"]},
    "quotes and backslashes": "\"\\ '/ \\\\\" \\",
    "escapes as text": "\\u0041\\n\\x41&#65;%41",
    "// in a text": 'a//b "//c',
    '"// in a text': 'a"//b',
    '"/* in a text': 'a"/*b*/c',
    "/* in a text": "a/*b*/c",
    "# in a text": 'a #b "# c',
    "commas before brackets in a text": 'a,] ,} ",] ,}',
    "texts that look like other values": ["null", "true", "1", "1e5", "~", "yes", "2026-01-01", "NaN", "[1]", "{}", "=a", "<<", ""],
    "a long text": "aé漢😀" * 20_000,
    "an empty key": {"": ""},
    "unusual keys": {"a.b": 1, "[0]": 2, "__proto__": 3, "constructor": 4, "1": 5, "null": 6, "<<": 7, "$ref": 8, "a b": 9, "\"'\\/": 10, "\n\t": 11},
    "Booleans and empty ones": [True, False, [], {}, "", [[]], [{}], {"a": []}, {"a": {}}],
    "null": Null,
    "small integers": [0, 1, -1, 127, 128, 255, 256, 65_536, -32_769],
    "integers of 32 bits": [2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32 - 1, 2**32],
    "2^53": [2**53, -(2**53)],
    "integers above 2^53": [2**53 + 1, -(2**53) - 1, 10**18 + 1],
    "Int64": [2**63 - 1, -(2**63)],
    "integers above Int64.max": [2**63, 2**64 - 1],
    "whole numbers": [1.0, 100.0, -3.0, 1e15, 1e16, 1e17, 123456789012345680.0],
    "-0.0": -0.0,
    "17 digits": [0.1 + 0.2, 1 / 3, 2 / 3, 1.1 + 2.2, 9007199254740993.0, 5.684341886080802e-14],
    "exponents": [1e21, 1e22, 1e23, 1e-5, 1e-7, 2.5e-5, 1.5e300, 1e308, 1.7976931348623157e308],
    "small doubles": [5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1e-310],
    "random doubles": doubles(),
    "an infinity": float("inf"),
    "31 levels": deep(28),
    "60 levels": deep(58),
    "5,000 values": {f"key {number}": number for number in range(5000)},
    "random documents": documents(400, True),
}


def run(*words):
    done = subprocess.run([prefs, *words], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"json: prefs {' '.join(words)[:300]}: {done.stdout}{done.stderr}")


def store():
    """A new file of prefs for each kind; the values come from property lists, so no other JSON is involved. Returns their paths."""
    paths = []
    for number, value in enumerate(KINDS.values()):
        paths.append(f"{folder}/stored/{number}.json")
        if value is Null:
            run("set", "-f", paths[-1], "k", "null")
            continue
        with open(f"{folder}/value.plist", "wb") as file:
            plistlib.dump({"k": value}, file, fmt=plistlib.FMT_BINARY, sort_keys=False)
        run("import", "-f", paths[-1], f"{folder}/value.plist")
    return paths


def stored(value):
    """What a reader has to find."""
    if value is Null:
        return None
    if isinstance(value, float) and math.isinf(value):
        return {"$double": "inf"}
    return value


# MARK: - What libraries read


def parsed(value):
    """The value of a form that a library printed: hexadecimal UTF-8, UTF-16 code units, bits of a double, or a number as text."""
    if isinstance(value, Pairs):
        keys = [parsed(key) for key, _ in value]
        return {key: parsed(element) for key, (_, element) in zip(keys, value)} if len(set(keys)) == len(keys) else Other("a key twice")
    if isinstance(value, list):
        return [parsed(element) for element in value]
    if not isinstance(value, str):
        return value
    kind, text = value[:1], value[1:]
    if kind == "s":
        return bytes.fromhex(text).decode("utf-8", "replace")
    if kind == "c":
        units = "".join(chr(int(unit)) for unit in text.split(",") if unit)
        return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if kind == "d":
        return struct.unpack(">d", bytes.fromhex(text))[0]
    if kind == "i" or kind == "x" and re.fullmatch("0|-?[1-9][0-9]*", text):
        return int(text)
    return float(text) if kind == "x" else Other(value)


class Pairs(list):
    pass


class Other(str):
    """A value of a type that JSON does not have."""


def difference(expected, value, isDouble, path=""):
    """The first value that differs, or None. 1 and 1.0 are equal, 0.0 and -0.0 are not."""
    if isinstance(expected, dict) and isinstance(value, dict):
        if expected.keys() != value.keys():
            return f"{path}: keys {shown(sorted(value.keys() - expected.keys()))} for {shown(sorted(expected.keys() - value.keys()))}"
        return next(filter(None, (difference(expected[key], value[key], isDouble, f"{path}.{key}") for key in expected)), None)
    if isinstance(expected, list) and isinstance(value, list) and len(expected) == len(value):
        return next(filter(None, (difference(*each, isDouble, path + f"[{number}]") for number, each in enumerate(zip(expected, value)))), None)
    isNumber = isinstance(expected, (int, float)) and not isinstance(expected, bool)
    if isNumber and isinstance(value, (int, float)) and not isinstance(value, bool):
        wanted = float(expected) if isDouble else expected
        value = float(value) if isDouble or isinstance(expected, float) else value
        if wanted == value and math.copysign(1, wanted) == math.copysign(1, value):
            return None
    elif type(expected) is type(value) and expected == value and not isinstance(expected, (list, dict)):
        return None
    return f"{path} {shown(expected)} is {shown(value)}".strip()


def shown(value):
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "…"


def printed(name, paths):
    """The lines of a library; of a tool, the values of what it prints."""
    if name not in TOOLS:
        done = subprocess.run([*commands[name], "read", *paths], capture_output=True, text=True, timeout=300)
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()][-len(paths):]  # R prints a warning first
        if len(lines) != len(paths):
            sys.exit(f"json: {name} has not run: {done.returncode} {(done.stdout + done.stderr)[-800:]}")
        for line in lines:
            yield None if line == "refused" else [parsed(json.loads(line, object_pairs_hook=Pairs))]
        return
    for path in paths:
        with open(path, "rb") as file:
            done = subprocess.run([*commands[name], *next(iter(TOOLS[name].values()))], stdin=file, capture_output=True, timeout=300)
        yield [json.loads(done.stdout.decode(), parse_int=lambda text: -0.0 if text == "-0" else int(text))] if done.returncode == 0 else None


def read(name, paths):
    """The kinds that a library reads otherwise, with what it reads."""
    found = {}
    for (kind, value), results in zip(KINDS.items(), printed(name, paths), strict=True):
        text = "refused" if results is None else difference({"k": stored(value)}, results[0], name in DOUBLES)
        if text:
            found[kind] = text
    return found


def readers():
    failed = exact = 0
    paths = store()
    for name in commands:
        found, known = read(name, paths), KNOWN.get(name, {})
        exact += not found
        print(f"{name}: " + ("; ".join(f"{kind}: {text}" for kind, text in found.items()) or "exact"), flush=True)
        for kind in sorted(found.keys() | known.keys()):
            if found.get(kind) != known.get(kind) and not (kind in found and known.get(kind) == ANY):
                failed += 1
                print(f"    EXPECTED of {kind}: {known.get(kind, 'exact')}")
    print(f"{exact} of {len(commands)} readers read all {len(KINDS)} files exactly")
    return failed


# MARK: - What prefs changes

STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[-+0-9.eE]+|true|false|null', re.DOTALL)


def spans(text):
    """The path, the beginning and the end of each value below the top, found without a parser of a library."""
    found = []

    def space(at):
        while text[at] in " \t\r\n\ufeff":
            at += 1
        return at

    def value(at, path):
        start = at = space(at)
        if text[at] in "{[":
            isObject, number, at = text[at] == "{", 0, space(at + 1)
            while text[at] not in "}]":
                key = number
                if isObject:
                    key_end = STRING.match(text, at).end()
                    key = json.loads(text[at:key_end], strict=False)
                    at = space(key_end)
                    assert text[at] == ":"
                    at += 1
                at = space(value(at, path + (key,)))
                number += 1
                if text[at] == ",":
                    at = space(at + 1)
            at += 1
        else:
            at = SCALAR.match(text, at).end()
        if path:
            found.append((path, start, at))
        return at

    value(0, ())
    return found


def other(value, numbers):
    """A value that differs, most often of its kind."""
    if numbers.random() < 0.2:
        return numbers.choice(["other 😀 \"\\\n", 17, -2.5e-9, False, {"new": [1, "two"]}, [1, 2]])
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1 if abs(value) < 1e15 else 1
    return value + "!" if isinstance(value, str) else "text"


def loads(text):
    """A value in which commas after the last element may stand."""
    return json.loads(re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])', lambda match: match.group(1) or "", text, flags=re.DOTALL))


def change(path, numbers):
    """Changes two values one after the other. Returns what went wrong, a text for each change."""
    wrong = []
    for isTop in True, False:
        with open(path, "rb") as file:
            before = file.read()
        text = before.decode()
        places = [each for each in spans(text) if (len(each[0]) == 1) == isTop]
        if not places:
            continue
        keys, start, end = numbers.choice(places)
        value = other(loads(text[start:end]), numbers)
        words = "".join(f"[{json.dumps(key)}]" for key in keys)
        command = [prefs, "set", "-f", path, words, json.dumps(value), "-t", "json", "--force"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            wrong.append(f"{words}: {done.stdout}{done.stderr}")
            continue
        with open(path, "rb") as file:
            after = file.read()
        head, tail = text[:start].encode(), text[end:].encode()
        isKept = after.startswith(head) and after.endswith(tail) and len(after) >= len(head) + len(tail)
        try:
            isValue = isKept and loads(after[len(head):len(after) - len(tail)].decode()) == value
        except ValueError:
            isValue = False
        wrong.append("" if isValue else f"{words}: {'more changed' if not isKept else 'another value'}")
    return wrong


def isJSON(path):
    """json-glib does not escape control characters, so some of its files are not JSON. prefs refuses them."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return isinstance(loads(file.read()), dict)
    except ValueError:
        return False


def write(name, sources, place):
    """Lets a library or tool write each document in each of its styles."""
    if name not in TOOLS:
        done = subprocess.run([*commands[name], "write", place, *sources], capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            sys.exit(f"json: {name} has not written: {done.returncode} {(done.stdout + done.stderr)[-800:]}")
        return
    for number, source in enumerate(sources):
        for style, words in TOOLS[name].items():
            with open(source, "rb") as file:
                done = subprocess.run([*commands[name], *words], stdin=file, capture_output=True, timeout=60)
            if done.returncode != 0:
                sys.exit(f"json: {name} has not written: {done.returncode} {done.stderr[-800:]}")
            with open(f"{place}/{number}-{style}.json", "wb") as file:
                file.write(done.stdout)


def writers():
    failed = files = changes = 0
    sources = []
    nested = [each for each in documents(60, False) if any(value and isinstance(value, (dict, list)) for value in each.values())]
    for number, document in enumerate(nested[:12]):
        sources.append(f"{folder}/documents/{number}.json")
        with open(sources[-1], "w", encoding="utf-8") as file:
            json.dump(document, file, ensure_ascii=False)
    names = [name for name in commands if name not in READ_ONLY]
    for name in names:
        place = f"{folder}/written/{name.replace('/', '-')}"
        os.makedirs(place)
        write(name, sources, place)
        all_paths = sorted(os.path.join(place, file) for file in os.listdir(place))
        paths = [path for path in all_paths if isJSON(path)]
        left_out = f", and {len(all_paths) - len(paths)} that are not JSON" if len(paths) < len(all_paths) else ""
        wrong = [(path, text) for path in paths for text in change(path, random.Random(path.removeprefix(folder)))]
        bad = [(path, text) for path, text in wrong if text]
        print(f"{name}: {len(paths)} files{left_out}, {len(wrong)} changes, {len(bad)} changed something else", flush=True)
        for path, text in bad[:5]:
            print(f"    {path}: {text}")
        failed += len(bad) > 0 or not paths
        files += len(paths)
        changes += len(wrong)
    print(f"{len(names)} writers, {files} files, {changes} changes")
    return failed


for name in "stored", "documents", "written":
    os.makedirs(f"{folder}/{name}", exist_ok=True)
print("== readers")
failed = readers()
print("== writers")
failed += writers()
sys.exit(failed > 0)
