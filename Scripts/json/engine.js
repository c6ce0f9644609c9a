// Code for every engine of JavaScript: what a value is in the form that compare.py reads, and the texts that JSON.stringify writes.
function canonical(value) {
    var texts = [], key, index;
    if (value === null || value === undefined || typeof value === "boolean") return String(value === undefined ? "lost" : value);
    if (typeof value === "number") return '"x' + (value === 0 && 1 / value < 0 ? "-0.0" : String(value)) + '"';
    if (typeof value === "string") {
        for (index = 0; index < value.length; index++) texts.push(value.charCodeAt(index));
        return '"c' + texts.join() + '"';
    }
    if (value instanceof Array) {
        for (index = 0; index < value.length; index++) texts.push(canonical(value[index]));
        return "[" + texts.join() + "]";
    }
    for (key in value) if (Object.prototype.hasOwnProperty.call(value, key)) texts.push(canonical(key) + ":" + canonical(value[key]));
    return "{" + texts.join() + "}";
}
function styles(value) {
    return {compact: JSON.stringify(value), spaces: JSON.stringify(value, null, 2), tabs: JSON.stringify(value, null, "\t")};
}
