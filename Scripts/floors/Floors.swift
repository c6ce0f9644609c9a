import Foundation

/// What Scripts/floors.sh runs: `floors FOLDER INDEX TARGET…`. Exits with 1 if a file needs one of a floor above it, with 2 if it could not
/// check everything.
@main enum Floors {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 3 else { fail("wrong arguments") }
        let folder = URL(filePath: arguments[1]).resolvingSymlinksInPath().path
        var index = Index(of: folder)
        guard index.add(arguments[2]) else { fail("no index at \(arguments[2]): build with swift build --build-tests") }
        var isSound = true
        for target in arguments[3...] {
            let house = try House(target, in: folder)
            let unread = house.floors.keys.filter { !index.files.contains(house.path($0)) }.sorted()
            guard unread.isEmpty else { fail("not in the index: \(unread.joined(separator: ", "))") }
            isSound = house.check(index) && isSound
        }
        exit(isSound ? 0 : 1)
    }

    static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("floors: \(message)\n".utf8))
        exit(2)
    }
}

/// The floors of one target. A file needs only files of its own floor and of those below.
struct House {
    private let target: String
    private let folder: String
    /// The number of the floor of each file, from the ground up.
    private(set) var floors: [String: Int] = [:]
    private var names: [String] = []
    private var lines: [String: Int] = [:]
    /// The references upwards that stand, which the list names until they are gone.
    private var standing: Set<Arrow> = []
    /// The most lines of the files of a floor that need each other.
    private var mostLinesOfLoop = mostLinesOfAnyLoop

    private struct Arrow: Hashable {
        let user: String
        let used: String
    }

    private static let (mostLinesOfFile, mostLinesOfAnyLoop) = (450, 900)

    /// Reads the list of the floors: a line for each, the lowest first, with its name, a colon and its files. Behind them, what
    /// stands: `loop: LINES` for files of a floor that need each other, and `FILE > FILE …` for references upwards.
    init(_ target: String, in folder: String) throws {
        (self.target, self.folder) = (target, folder)
        let list = try String(contentsOfFile: "\(folder)/Scripts/floors/\(target).txt", encoding: .utf8)
        for line in list.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("loop: ") {
                mostLinesOfLoop = Int(line.dropFirst(6)) ?? 0
                continue
            }
            let arrow = line.split(separator: " ").map(String.init)
            if arrow.dropFirst().first == ">" {
                standing.formUnion(arrow.dropFirst(2).map { Arrow(user: arrow[0], used: $0) })
                continue
            }
            let parts = line.split(separator: ":", maxSplits: 1)
            if !line.hasPrefix(" ") { names.append(String(parts[0])) }
            for file in (line.hasPrefix(" ") ? line : parts.last ?? "").split(separator: " ") {
                guard floors.updateValue(names.count - 1, forKey: String(file)) == nil else {
                    Floors.fail("\(target).txt names \(file) twice")
                }
            }
        }
        let sources = FileManager.default.enumerator(atPath: "\(folder)/Sources/\(target)")
        let files = Set((sources?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }.map { $0.dropLast(6) })
        // A file of another platform is not in the index.
        let others = files.filter { $0.hasSuffix("+Apple") }
        let known = Set(floors.keys.map { Substring($0) })
        let different = files.subtracting(others).symmetricDifference(known)
        guard different.isEmpty else {
            Floors.fail("\(target).txt and Sources/\(target) differ in \(different.sorted().joined(separator: ", "))")
        }
        for file in floors.keys {
            lines[file] = try String(contentsOfFile: "\(folder)/\(path(file))", encoding: .utf8).count { $0 == "\n" }
        }
    }

    func path(_ file: String) -> String { "Sources/\(target)/\(file).swift" }

    /// Prints what is wrong and a summary. Returns whether nothing is wrong.
    func check(_ index: Index) -> Bool {
        let byPath = Dictionary(uniqueKeysWithValues: floors.keys.map { (path($0), $0) })
        var needs: [String: Set<String>] = [:]
        var (upward, found): (Set<String>, Set<Arrow>) = ([], [])
        for use in index.uses {
            guard let user = byPath[use.file], let definition = index.definitions[use.usr],
                let used = byPath[definition.file], used != user, let floor = floors[user], let other = floors[used]
            else { continue }
            needs[user, default: []].insert(used)
            if other > floor {
                found.insert(Arrow(user: user, used: used))
                if standing.contains(Arrow(user: user, used: used)) { continue }
                upward.insert(
                    "\(use.file):\(use.line): \(names[floor]) needs \(names[other]): \(definition.name) of \(used)")
            }
        }
        upward.sorted().forEach { print($0) }
        let gone = standing.subtracting(found).map { "\(target).txt: \($0.user) does not need \($0.used) any more" }
        gone.sorted().forEach { print($0) }
        let loops = loops(needs).filter { $0.count > 1 }
        func size(_ files: some Sequence<String>) -> Int { files.reduce(0) { $0 + (lines[$1] ?? 0) } }
        let large = loops.filter { size($0) > mostLinesOfLoop }
        for loop in large {
            print("\(target): \(size(loop)) lines need each other: \(loop.sorted().joined(separator: ", "))")
        }
        let largest = loops.map { size($0) }.max() ?? 0
        let isLower = mostLinesOfLoop > Self.mostLinesOfAnyLoop && largest < mostLinesOfLoop
        if isLower { print("\(target).txt: only \(largest) lines need each other; lower the number") }
        let long = lines.filter { $0.value > Self.mostLinesOfFile }
        for (file, count) in long { print("\(path(file)): \(count) lines") }
        let (all, inLoops) = (size(floors.keys), size(loops.joined()))
        print(
            """
            floors: \(target): \(floors.count) files of \(all) lines on \(names.count) floors; in loops \(100 * inLoops / max(1, all)) %, \
            the largest \(largest) lines; \(found.count) references upwards
            """)
        return upward.isEmpty && gone.isEmpty && !isLower && large.isEmpty && long.isEmpty
    }

    /// The groups of files that need each other (Tarjan's strongly connected components).
    private func loops(_ needs: [String: Set<String>]) -> [[String]] {
        var (numbers, lowest): ([String: Int], [String: Int]) = ([:], [:])
        var (open, groups): ([String], [[String]]) = ([], [])
        func visit(_ file: String) {
            let number = numbers.count
            (numbers[file], lowest[file]) = (number, number)
            open.append(file)
            for other in needs[file] ?? [] {
                if numbers[other] == nil { visit(other) } else if !open.contains(other) { continue }
                lowest[file] = min(lowest[file] ?? number, lowest[other] ?? number)
            }
            guard lowest[file] == number, let start = open.firstIndex(of: file) else { return }
            groups.append(Array(open[start...]))
            open.removeSubrange(start...)
        }
        for file in floors.keys.sorted() where numbers[file] == nil { visit(file) }
        return groups
    }
}
