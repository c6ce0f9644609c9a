// Lets JSON of Node.js, json5 or js-yaml read, or JSON write. usage: node node.cjs LIBRARY read PATH … | JSON write FOLDER PATH …
const fs = require("fs"), path = require("path"), vm = require("vm");
vm.runInThisContext(fs.readFileSync(path.join(__dirname, "engine.js"), "utf8"));
const [name, verb, ...paths] = process.argv.slice(2);
const library = name === "JSON" ? JSON : require(name);
if (verb === "read") {
    for (const each of paths) {
        try {
            console.log(canonical((library.parse || library.load)(fs.readFileSync(each, "utf8"))));
        } catch (error) {
            console.log("refused");
        }
    }
} else {
    for (const each of paths.slice(1)) {
        const texts = styles(JSON.parse(fs.readFileSync(each, "utf8")));
        for (const style in texts) fs.writeFileSync(`${paths[0]}/${path.parse(each).name}-${style}.json`, texts[style]);
    }
}
