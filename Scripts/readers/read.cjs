// Prints what a library of Node.js reads under the key k of each file.
const fs = require("fs");
const [folder, ...paths] = process.argv.slice(2);
const library = require(folder);
for (const path of paths) {
    try {
        const values = library.parseBuffer ? library.parseBuffer(fs.readFileSync(path))[0] : library.parse(fs.readFileSync(path, "utf8"));
        console.log(typeof values.k, typeof values.k === "string" ? JSON.stringify(values.k) : String(values.k));
    } catch (error) {
        console.log("refused");
    }
}
