import Foundation

// A program that knows nothing of this package and keeps its preferences as most programs do.
//
//     RawDefaults read SUITE ROOT                  the dictionary under ROOT as sorted lines key=value
//     RawDefaults write SUITE KEY VALUE            stores a text
//     RawDefaults set SUITE KEY VALUE              the same without synchronize()
//     RawDefaults set-object SUITE KEY             stores what no property list holds
//     RawDefaults write-root SUITE ROOT KEY VALUE  stores a dictionary of one text

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
case ("write-root", 5):
    defaults.set([words[3]: words[4]], forKey: words[2])
    guard defaults.synchronize() else { fail("not written") }
default:
    fail("wrong usage")
}
