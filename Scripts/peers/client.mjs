// A program that stores texts with configstore, from the folder that its first argument names; see client.py.
import fs from 'node:fs';
import readline from 'node:readline';

const folder = process.argv[2];
const {default: Configstore} = await import(`${folder}/index.js`);
let store;

function answer([command, key, value, time]) {
    if (command === 'version') {
        return JSON.parse(fs.readFileSync(`${folder}/package.json`)).version;
    }
    store ??= new Configstore('peers');
    if (command === 'set') {
        while (Date.now() < Number(time ?? 0));
        store.set(key, value);
        return 'ok';
    }
    return store.get(key) ?? 'default';
}

for await (const line of readline.createInterface({input: process.stdin})) {
    let text;
    try {
        text = answer(line.split(' '));
    } catch (error) {
        text = `error: ${error}`;
    }
    console.log(text.replaceAll(/\s+/g, ' '));
}
