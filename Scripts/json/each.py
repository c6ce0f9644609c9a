"""Lets a library of Python read or write. usage: each.py LIBRARY read PATH … | LIBRARY write FOLDER PATH …

For each PATH, "read" prints the value in the form that compare.py reads, or "refused". "write" writes each value in each style.
"""
import decimal, importlib, json, os, struct, sys

name, verb, *paths = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))


def canonical(value):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return "d" + struct.pack(">d", value).hex()
    if isinstance(value, decimal.Decimal):
        return f"x{value}"
    if isinstance(value, str):
        return "s" + value.encode("utf-8", "surrogatepass").hex()
    if isinstance(value, list):
        return [canonical(element) for element in value]
    if isinstance(value, dict):
        return {canonical(key): canonical(element) for key, element in value.items()}
    return f"type {type(value).__name__}"


def module(name):
    return importlib.import_module(name)


def engine():
    with open(here + "/engine.js", encoding="utf-8") as file:
        return file.read()


def sqlite():
    import sqlite3

    sqlite.base = sqlite3.connect(":memory:")


def of_sqlite(text):
    """json_tree has a row for each value."""
    values, top = {}, None
    rows = "SELECT id, parent, key, type, CASE WHEN atom IS NULL THEN NULL ELSE hex(CAST(atom AS BLOB)) END, typeof(atom), atom FROM json_tree(?)"
    sqlite.base.text_factory = bytes
    for number, parent, key, kind, code, _, atom in sqlite.base.execute(rows, [text]):
        kind = kind.decode()
        value = {
            "object": lambda: {}, "array": lambda: [], "null": lambda: None, "true": lambda: True, "false": lambda: False,
            "text": lambda: "s" + code.decode().lower(), "integer": lambda: canonical(atom), "real": lambda: canonical(atom),
        }[kind]()
        if parent is None:
            top = value
        elif isinstance(values[parent], list):
            values[parent].append(value)
        else:
            values[parent]["s" + key.hex()] = value
        values[number] = value
    return top


def yaml12(text):
    return module("ruamel.yaml").YAML(typ="safe", pure=True).load(text)


def in_engine(call):
    """A text that an engine returns for an expression with the argument "text"."""
    if name == "quickjs":
        context = module("quickjs").Context()
        context.eval(engine())
        return lambda text: context.eval(f"(function (text) {{ return {call} }})")(text)
    return lambda text: module("dukpy").evaljs(engine() + f"(function (text) {{ return {call} }})(dukpy['text'])", text=text)


READ = {
    "json": lambda text: json.loads(text),
    "simplejson": lambda text: module("simplejson").loads(text),
    "ujson": lambda text: module("ujson").loads(text),
    "orjson": lambda text: module("orjson").loads(text),
    "python-rapidjson": lambda text: module("rapidjson").loads(text),
    "msgspec": lambda text: module("msgspec.json").decode(text),
    "pysimdjson": lambda text: module("simdjson").loads(text.encode()),
    "json5": lambda text: module("json5").loads(text),
    "pyjson5": lambda text: module("pyjson5").decode(text),
    "commentjson": lambda text: module("commentjson").loads(text),
    "hjson": lambda text: json.loads(json.dumps(module("hjson").loads(text))),
    "demjson3": lambda text: module("demjson3").decode(text, strict=True),
    "pyyaml": lambda text: module("yaml").safe_load(text),
    "ruamel.yaml": yaml12,
    "jsonc-parser": lambda text: module("jsonc_parser.parser").JsoncParser.parse_str(text),
    "yapic.json": lambda text: module("yapic.json").loads(text),
    "pydantic-core": lambda text: module("pydantic_core").from_json(text),
    "jsonyx": lambda text: module("jsonyx").loads(text),
}
# The texts of a style that a library does not have are made here: CRLF and the byte-order mark.
WRITE = {
    "json": {
        "compact": lambda value: json.dumps(value, separators=(",", ":")),
        "line": lambda value: json.dumps(value, ensure_ascii=False, sort_keys=True),
        "tabs": lambda value: json.dumps(value, indent="\t", ensure_ascii=False).replace("\n", "\r\n"),
        "mark": lambda value: "\ufeff" + json.dumps(value, indent=4) + "\n",
        "flush": lambda value: json.dumps(value, indent=0, separators=(" ,", " : ")) + "\n\n",
    },
    "simplejson": {
        "line": lambda value: module("simplejson").dumps(value),
        "html": lambda value: module("simplejson").dumps(value, for_json=True, indent=3, sort_keys=True),
        "escaped": lambda value: module("simplejson").dumps(value, cls=module("simplejson").encoder.JSONEncoderForHTML),
    },
    "ujson": {
        "line": lambda value: module("ujson").dumps(value, escape_forward_slashes=True),
        "html": lambda value: module("ujson").dumps(value, encode_html_chars=True, sort_keys=True),
        "spaces": lambda value: module("ujson").dumps(value, ensure_ascii=False, escape_forward_slashes=False, indent=4),
    },
    "orjson": {
        "compact": lambda value: module("orjson").dumps(value).decode(),
        "sorted": lambda value: module("orjson").dumps(value, option=module("orjson").OPT_INDENT_2 | module("orjson").OPT_SORT_KEYS).decode(),
    },
    "python-rapidjson": {
        "compact": lambda value: module("rapidjson").dumps(value),
        "tabs": lambda value: module("rapidjson").dumps(value, indent="\t", ensure_ascii=False),
        "arrays": lambda value: module("rapidjson").dumps(value, indent=2, write_mode=1, sort_keys=True),
    },
    "msgspec": {
        "compact": lambda value: module("msgspec.json").encode(value).decode(),
        "spaces": lambda value: module("msgspec.json").format(module("msgspec.json").encode(value), indent=3).decode(),
        "line": lambda value: module("msgspec.json").format(module("msgspec.json").encode(value, order="sorted"), indent=0).decode(),
    },
    "json5": {
        "commas": lambda value: module("json5").dumps(value, indent=2, quote_keys=True, trailing_commas=True),
        "line": lambda value: module("json5").dumps(value, quote_keys=True, trailing_commas=False),
    },
    "commentjson": {"spaces": lambda value: module("commentjson").dumps(value, indent=2), "line": lambda value: module("commentjson").dumps(value)},
    "hjson": {"spaces": lambda value: module("hjson").dumpsJSON(value, indent=4), "line": lambda value: module("hjson").dumpsJSON(value)},
    "demjson3": {
        "compact": lambda value: module("demjson3").encode(value, compactly=True),
        "spaces": lambda value: module("demjson3").encode(value, compactly=False, escape_unicode=True),
    },

    "yapic.json": {"compact": lambda value: module("yapic.json").dumps(value)},
    "pydantic-core": {
        "compact": lambda value: module("pydantic_core").to_json(value).decode(),
        "spaces": lambda value: module("pydantic_core").to_json(value, indent=3).decode(),
    },
    "jsonyx": {
        "line": lambda value: module("jsonyx").dumps(value, ensure_ascii=True),
        "tabs": lambda value: module("jsonyx").dumps(value, indent="\t"),
        "leaves": lambda value: module("jsonyx").dumps(value, indent=2, indent_leaves=False, trailing_comma=True),
    },
    "sqlite3": {"compact": lambda value: sqlite.base.execute("SELECT json(?)", [json.dumps(value)]).fetchone()[0]},
}

if name == "sqlite3":
    sqlite()
if verb == "read":
    # Deep values need more calls than the default.
    sys.setrecursionlimit(5000)
    isEngine = name in ("quickjs", "dukpy")
    read = in_engine("canonical(JSON.parse(text))") if isEngine else READ.get(name)
    for path in paths:
        try:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
            if isEngine:
                print(read(text))
            else:
                print(json.dumps(of_sqlite(text) if name == "sqlite3" else canonical(read(text))))
        except Exception as error:
            print("refused")
else:
    folder, *paths = paths
    engine_texts = in_engine("JSON.stringify(styles(JSON.parse(text)))") if name in ("quickjs", "dukpy") else None
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if engine_texts:
            made = json.loads(engine_texts(text))
        else:
            made = {style: write(json.loads(text)) for style, write in WRITE[name].items()}
        for style, text in made.items():
            with open(f"{folder}/{os.path.basename(path)[:-5]}-{style}.json", "w", encoding="utf-8", newline="") as file:
                file.write(text)
