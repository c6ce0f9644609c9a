// Changes one value of a JSON file with jsonc-parser, in the style of the file, as VS Code does.
// usage: node jsonc.mjs FOLDER FILE PATH [VALUE]
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, file, path, value] = process.argv.slice(2);
const { exports: named, module, main } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
const { applyEdits, modify } = await import(pathToFileURL(`${folder}/${named?.["."]?.import ?? module ?? main}`));
const text = readFileSync(file, "utf8");
const indentation = /\n([ \t]+)/.exec(text)?.[1] ?? "  ";
const formattingOptions = { insertSpaces: !indentation.startsWith("\t"), tabSize: indentation.length, eol: text.includes("\r\n") ? "\r\n" : "\n" };
const changed = value === undefined ? undefined : JSON.parse(value);
writeFileSync(file, applyEdits(text, modify(text, JSON.parse(path), changed, { formattingOptions })));
