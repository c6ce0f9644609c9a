// Lets serde_json read or write. usage: each read PATH … | write FOLDER PATH …
use serde_json::Value;
use std::{env, fs, path::Path};

fn text(value: &str) -> String {
    format!("\"s{}\"", value.bytes().map(|byte| format!("{:02x}", byte)).collect::<String>())
}

fn canonical(value: &Value) -> String {
    match value {
        Value::String(value) => text(value),
        Value::Number(value) if value.is_f64() => format!("\"d{:016x}\"", value.as_f64().unwrap().to_bits()),
        Value::Number(value) => format!("\"i{}\"", value),
        Value::Array(values) => format!("[{}]", values.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(values) => {
            let parts: Vec<_> = values.iter().map(|(key, value)| format!("{}:{}", text(key), canonical(value))).collect();
            format!("{{{}}}", parts.join(","))
        }
        other => other.to_string(),
    }
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    if words[0] == "read" {
        for path in &words[1..] {
            let value: Result<Value, _> = serde_json::from_str(&fs::read_to_string(path).unwrap());
            println!("{}", value.map_or("refused".into(), |value| canonical(&value)));
        }
        return;
    }
    for path in &words[2..] {
        let value: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let name = Path::new(path).file_stem().unwrap().to_str().unwrap();
        for (style, text) in [("compact", serde_json::to_string(&value)), ("pretty", serde_json::to_string_pretty(&value))] {
            fs::write(format!("{}/{}-{}.json", words[1], name, style), text.unwrap()).unwrap();
        }
    }
}
