// Prints what the crate plist reads under the key k of each file; with "--write", what it writes for a date with a fraction.
use plist::Value;
use std::time::{Duration, UNIX_EPOCH};

fn main() {
    for path in std::env::args().skip(1) {
        if path == "--write" {
            let date = plist::Date::from(UNIX_EPOCH + Duration::from_millis(500));
            let mut values = plist::Dictionary::new();
            values.insert("k".into(), Value::Date(date));
            let mut text = Vec::new();
            Value::Dictionary(values).to_writer_xml(&mut text).unwrap();
            println!("{}", String::from_utf8(text).unwrap().lines().find(|line| line.contains("<date>")).unwrap().trim());
            continue;
        }
        match Value::from_file(&path) {
            Ok(values) => println!("{:?}", values.as_dictionary().and_then(|all| all.get("k"))),
            Err(_) => println!("refused"),
        }
    }
}
