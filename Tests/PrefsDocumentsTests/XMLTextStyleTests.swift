import Foundation
import PrefsPropertyLists
import Testing
import TestSupport

@testable import PrefsDocuments

/// Lists in the styles of people: only the lines of a change differ, and others read the new value.
@Suite struct XMLTextStyleTests {
    /// How a person writes.
    struct Style: Sendable, CustomTestStringConvertible {
        var step = "\t"
        /// Whether `<true/>` and `<false/>` are on the line of their key.
        var hasShortBools = false
        /// Whether each value that is no container is on the line of its key.
        var isCompact = false
        var isRootIndented = false
        var lineEnd = "\n"
        var mark = ""
        var hasComments = false
        var hasProlog = true
        var emptyArray = "<array/>"
        var trueElement = "<true/>"

        var testDescription: String { "\(self)" }

        /// 160 styles: every layout with a part of the other choices.
        static let all: [Style] = {
            var styles: [Style] = []
            for step in ["\t", "  ", "    ", "", " "] {
                for layout in 0..<4 {
                    for other in 0..<8 {
                        styles.append(
                            Style(
                                step: step, hasShortBools: layout == 1, isCompact: layout == 2,
                                isRootIndented: layout == 3, lineEnd: other % 2 == 1 ? "\r\n" : "\n",
                                mark: other == 3 ? "\u{FEFF}" : "", hasComments: other >= 2, hasProlog: other != 5,
                                emptyArray: other == 6 ? "<array></array>" : "<array/>",
                                trueElement: ["<true/>", "<true />", "<true></true>"][other % 3]))
                    }
                }
            }
            return styles
        }()

        func text(of members: [(String, Part)]) -> String {
            let start = isRootIndented ? 1 : 0
            let prolog =
                hasProlog
                ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
                    + "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n" : ""
            let comment = hasComments ? "<!-- who, why -->\n" : ""
            let lines =
                prolog + comment + "<plist version=\"1.0\">\n" + margin(start) + text(of: .members(members), start)
                + "\n</plist>\n"
            return mark + lines.replacing("\n", with: lineEnd)
        }

        private func margin(_ depth: Int) -> String { String(repeating: step, count: depth) }

        private func text(of part: Part, _ depth: Int) -> String {
            switch part {
            case .members(let members):
                let lines = members.enumerated().map { number, member in
                    let comment = hasComments && number % 3 == 1 ? "\(margin(depth + 1))<!-- \(number) -->\n" : ""
                    let isShort = isCompact && !member.1.isContainer || hasShortBools && member.1.isBool
                    return comment + margin(depth + 1) + "<key>\(member.0)</key>"
                        + (isShort ? "" : "\n" + margin(depth + 1)) + text(of: member.1, depth + 1)
                        + (hasComments && number % 4 == 2 ? " <!-- <true/> -->" : "") + "\n"
                }
                return "<dict>\n\(lines.joined())\(margin(depth))</dict>"
            case .list(let elements):
                if elements.isEmpty { return emptyArray }
                let lines = elements.map { margin(depth + 1) + text(of: $0, depth + 1) + "\n" }
                return "<array>\n\(lines.joined())\(margin(depth))</array>"
            case .text(let text): return "<string>\(text)</string>"
            case .number(let number): return "<integer>\(number)</integer>"
            case .bool(let bool): return bool ? trueElement : trueElement.replacing("true", with: "false")
            }
        }
    }

    indirect enum Part: Sendable {
        case members([(String, Part)])
        case list([Part])
        case text(String)
        case number(Int)
        case bool(Bool)

        var isContainer: Bool {
            switch self {
            case .members, .list: true
            default: false
            }
        }

        var isBool: Bool { if case .bool = self { true } else { false } }
    }

    /// A launchd job.
    private static let job: [(String, Part)] = [
        ("Label", .text("org.example.job")), ("Disabled", .bool(false)),
        ("ProgramArguments", .list([.text("/usr/bin/env"), .text("sh"), .text("a &amp; b &lt;x&gt;")])),
        ("StartInterval", .number(3600)),
        ("KeepAlive", .members([("SuccessfulExit", .bool(true)), ("PathState", .members([("/etc/x", .bool(true))]))])),
        ("WatchPaths", .list([])),
        ("Sockets", .list([.members([("SockType", .text("dgram")), ("SockPassive", .bool(true))])])),
        ("Nice", .number(5)),
    ]

    /// A change, and how many lines it takes away and adds.
    struct Change: Sendable {
        let name: String
        let lines: @Sendable (Style) -> (removed: Int, added: Int)
        let change: @Sendable (inout [String: StoredValue]) -> Void
    }

    static let changes: [Change] = [
        Change(name: "set", lines: { _ in (1, 1) }) { $0["StartInterval"] = .integer(7200) },
        Change(name: "set a Boolean", lines: { _ in (1, 1) }) { $0["Disabled"] = .bool(true) },
        Change(name: "add", lines: { ($0.isCompact ? (0, 1) : (0, 2)) }) { $0["Umask"] = .integer(18) },
        Change(name: "add a Boolean", lines: { ($0.isCompact || $0.hasShortBools ? (0, 1) : (0, 2)) }) {
            $0["Debug"] = .bool(true)
        },
        Change(name: "remove", lines: { ($0.isCompact ? (1, 0) : (2, 0)) }) { $0["Nice"] = nil },
        Change(name: "nested", lines: { _ in (1, 1) }) {
            $0["KeepAlive"] = .dictionary([
                "SuccessfulExit": .bool(false), "PathState": .dictionary(["/etc/x": .bool(true)]),
            ])
        },
        Change(name: "append", lines: { _ in (0, 1) }) {
            $0["ProgramArguments"] = .array(($0["ProgramArguments"]?.array ?? []) + [.string("<&>")])
        },
        Change(name: "append to an empty list", lines: { _ in (1, 3) }) {
            $0["WatchPaths"] = .array([.string("/tmp")])
        },
        Change(name: "rename", lines: { _ in (1, 1) }) {
            $0["RunInterval"] = $0["StartInterval"]
            $0["StartInterval"] = nil
        },
        Change(name: "an element's member", lines: { _ in (1, 1) }) {
            $0["Sockets"] = .array([.dictionary(["SockType": .string("stream"), "SockPassive": .bool(true)])])
        },
    ]

    @Test(arguments: Style.all) func onlyTheLinesOfTheChangeDiffer(_ style: Style) throws {
        let text = Data(style.text(of: Self.job).utf8)
        let former = try XMLText.members(of: text)
        #expect(try XMLText.changed(text, from: former, to: former) == text)
        for change in Self.changes {
            var new = former
            change.change(&new)
            let changed = try XMLText.changed(text, from: former, to: new)
            #expect(try XMLText.members(of: changed) == new, "\(change.name)")
            #expect(try Self.readByFoundation(changed) == StoredValue.dictionary(new).object as? NSDictionary)
            let (before, after) = (Self.lines(of: text), Self.lines(of: changed))
            let difference = after.difference(from: before)
            let (removed, added) = change.lines(style)
            #expect(
                difference.removals.count == removed && difference.insertions.count == added,
                "\(change.name): \(difference)\n\(String(decoding: changed, as: UTF8.self))")
            #expect(after.allSatisfy { $0.hasSuffix("\r") } == (style.lineEnd == "\r\n"))
            // The change back gives the former text, unless its place is forgotten.
            let back = try XMLText.changed(changed, from: new, to: former)
            if removed == added || removed == 0 { #expect(back == text, "\(change.name)") }
            #expect(try XMLText.members(of: back) == former)
        }
    }

    /// Random values in random styles: the difference applied to the text is the one applied to the values.
    @Test(arguments: 0..<200) func aRandomChangeOfTheTextIsThatOfTheValue(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let styles = Style.all
        let text = Data(styles[seed % styles.count].text(of: Self.randomMembers(&random, 0)).utf8)
        var (former, current) = (try XMLText.members(of: text), text)
        for _ in 0..<4 {
            let other = styles[0].text(of: Self.randomMembers(&random, 0))
            let new =
                try Self.mixed(.dictionary(former), .dictionary(XMLText.members(of: Data(other.utf8))), &random)
                .dictionary ?? [:]
            let changed = try XMLText.changed(current, from: former, to: new)
            #expect(try XMLText.members(of: changed) == new, "\(String(decoding: changed, as: UTF8.self))")
            #expect(try Self.readByFoundation(changed) == StoredValue.dictionary(new).object as? NSDictionary)
            (former, current) = (new, changed)
        }
    }

    private static func randomMembers(_ random: inout SeededGenerator, _ depth: Int) -> [(String, Part)] {
        let keys = ["a", "b", "c", "\u{E9}", "d.e", "&lt;k&gt;", "CF$UID"].shuffled(using: &random)
        return keys.prefix(Int.random(in: 0...5, using: &random)).map { ($0, randomPart(&random, depth + 1)) }
    }

    private static func randomPart(_ random: inout SeededGenerator, _ depth: Int) -> Part {
        switch Int.random(in: 0..<(depth > 3 ? 3 : 6), using: &random) {
        case 0: .text(["", " x ", "&amp;&#13;&#10;", "<![CDATA[<b>]]>", "a\nb"].randomElement(using: &random) ?? "")
        case 1: .bool(Bool.random(using: &random))
        // A lone CF$UID is no number, because it would be a reference.
        case 2: .text("\(Int.random(in: 0...3, using: &random))")
        case 3: .list((0..<Int.random(in: 0...4, using: &random)).map { _ in randomPart(&random, depth + 1) })
        default: .members(randomMembers(&random, depth))
        }
    }

    /// A value with parts of both.
    private static func mixed(
        _ left: StoredValue, _ right: StoredValue, _ random: inout SeededGenerator
    ) -> StoredValue {
        switch (left, right) {
        case (.dictionary(let left), .dictionary(let right)):
            var members = left
            for (key, value) in right.sortedByBytes {
                members[key] = left[key].map { mixed($0, value, &random) } ?? value
            }
            for key in members.sortedByBytes.map(\.key) where Int.random(in: 0..<4, using: &random) == 0 {
                members[key] = nil
            }
            return .dictionary(members)
        case (.array(let left), .array(let right)):
            let elements = zip(left, right).map { mixed($0, $1, &random) } + right.dropFirst(left.count)
            return .array(elements.filter { _ in Int.random(in: 0..<4, using: &random) > 0 })
        default: return Bool.random(using: &random) ? left : right
        }
    }

    private static func lines(of text: Data) -> [String] {
        String(decoding: text, as: UTF8.self).unicodeScalars.split(separator: "\n").map { String($0) }
    }

    private static func readByFoundation(_ text: Data) throws -> NSDictionary? {
        try PropertyListSerialization.propertyList(from: text, format: nil) as? NSDictionary
    }
}
