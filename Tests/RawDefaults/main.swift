import Foundation

// A program without this package that keeps its preferences in UserDefaults.
//
//     RawDefaults read SUITE ROOT                  the dictionary under ROOT as sorted lines key=value
//     RawDefaults write SUITE KEY VALUE            stores a text
//     RawDefaults set SUITE KEY VALUE              the same without synchronize()
//     RawDefaults set-object SUITE KEY             stores what no property list holds
//     RawDefaults app SUITE save                   stores what an app keeps, one entry for each value
//     RawDefaults app SUITE show                   the same entries by the typed calls of UserDefaults

let words = Array(CommandLine.arguments.dropFirst())

func fail(_ message: String) -> Never {
    try? FileHandle.standardError.write(contentsOf: Data("RawDefaults: \(message)\n".utf8))
    exit(1)
}

func text(_ value: Any) -> String {
    // An element of a dictionary may be an Optional inside the Any; a cast takes it out.
    switch value {
    case let text as String: text
    case let number as Int: "\(number)"
    case let texts as [String]: "[" + texts.joined(separator: ",") + "]"
    case let texts as [String: String]: "{" + texts.map { "\($0)=\($1)" }.sorted().joined(separator: ",") + "}"
    case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
    default: "\(value)"
    }
}

guard words.count > 2, let defaults = UserDefaults(suiteName: words[1]) else { fail("wrong usage") }

switch (words[0], words.count) {
case ("read", 3):
    guard let root = defaults.dictionary(forKey: words[2]) else { fail("no dictionary") }
    print(root.map { "\($0)=\(text($1))" }.sorted().joined(separator: "\n"))
case ("write", 4):
    defaults.set(words[3], forKey: words[2])
    guard defaults.synchronize() else { fail("not written") }
case ("set", 4):
    defaults.set(words[3], forKey: words[2])
case ("set-object", 3):
    defaults.set(NSObject(), forKey: words[2])
case ("app", 3):
    if words[2] == "save" {
        defaults.set(0.25, forKey: "volume")
        defaults.set(7, forKey: "launches")
        defaults.set(true, forKey: "isDark")
        defaults.set("dark", forKey: "theme")
        defaults.set(["a", "b"], forKey: "recent")
        defaults.set(Data([1, 2, 3]), forKey: "bookmark")
        defaults.set(Date(timeIntervalSinceReferenceDate: 1_000), forKey: "lastOpened")
        defaults.set(5, forKey: "screen.width")
        defaults.set(["x": 1], forKey: "NSWindow Frame Main")
        guard defaults.synchronize() else { fail("not written") }
    }
    print(defaults.double(forKey: "volume"), defaults.integer(forKey: "launches"), defaults.bool(forKey: "isDark"))
    print(defaults.string(forKey: "theme") ?? "-", defaults.stringArray(forKey: "recent") ?? [])
    print((defaults.data(forKey: "bookmark") ?? Data()).map { "\($0)" }.joined(separator: ","))
    print((defaults.object(forKey: "lastOpened") as? Date)?.timeIntervalSinceReferenceDate ?? -1)
    print(
        defaults.integer(forKey: "screen.width"), defaults.dictionary(forKey: "NSWindow Frame Main")?["x"] as? Int ?? -1
    )
default:
    fail("wrong usage")
}
