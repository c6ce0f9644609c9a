import Foundation

/// Joins what a package uses with what the toolchain says about the availability of it.
struct Report {
    /// The folder of the files.
    let folder: String
    let index: Index
    let table: SymbolTable
    /// In the order of the manifest.
    let targets: [(platform: String, version: Version)]

    private struct UsedSymbol {
        let symbol: KnownSymbol
        let uses: [Use]
    }

    /// Prints what is above the deployment targets and a summary. Returns whether anything is above them.
    func print() -> Bool {
        let uses = Dictionary(grouping: index.uses.filter { index.definitions[$0.usr] == nil }, by: \.usr)
        let used = uses.compactMap { usr, uses in table[usr].map { UsedSymbol(symbol: $0, uses: uses) } }
        let tooNew = used.map { UsedSymbol(symbol: $0.symbol, uses: withoutLinux($0.uses.filter(isTooNew))) }
            .filter { !$0.uses.isEmpty }
        for used in tooNew.sorted(by: { $0.symbol.name < $1.symbol.name }) {
            Swift.print("\(used.symbol.name) of \(used.symbol.module) needs \(text(used.symbol.introduced)):")
            for place in Set(used.uses.map { "    \($0.file):\($0.line)" }).sorted() { Swift.print(place) }
        }
        let unknown = uses.keys.filter { table[$0] == nil }
        let declaredInC = unknown.count { $0.hasPrefix("c:") || $0.hasPrefix("s:So") }
        Swift.print(
            """
            availability: \(index.files.count) files use \(used.count) symbols of \(count(used).count) modules
            availability: the newest need \(newest(used))
            availability: without a version (always there, or not stated): \(list(count(used.filter { $0.symbol.introduced.isEmpty })))
            availability: in no symbol graph: \(declaredInC) of C, \(unknown.count - declaredInC) of Swift
            availability: symbols newer than \(text(Dictionary(uniqueKeysWithValues: targets))): \(tooNew.count)
            """)
        return !tooNew.isEmpty
    }

    /// A default implementation that is not older than its requirement is never missing.
    private func isTooNew(_ use: Use) -> Bool {
        let introduced = table[use.usr]?.introduced ?? [:]
        let requirement = use.requirement.flatMap { table[$0]?.introduced } ?? [:]
        return targets.contains { platform, target in
            guard let version = introduced[platform], version > target else { return false }
            return use.requirement == nil || version > requirement[platform] ?? target
        }
    }

    /// Without those between `#if os(Linux)` and its `#else` or `#endif`, which are compiled on Linux only.
    private func withoutLinux(_ uses: [Use]) -> [Use] {
        Dictionary(grouping: uses, by: \.file).flatMap { file, uses in
            let lines = linesOfLinux(file)
            return uses.filter { !lines.contains($0.line) }
        }
    }

    private func linesOfLinux(_ file: String) -> Set<Int> {
        let text = (try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)) ?? ""
        var (lines, open): (Set<Int>, [Bool]) = ([], [])
        for (number, line) in text.components(separatedBy: "\n").enumerated() {
            let words = line.trimmingCharacters(in: .whitespaces)
            if words.hasPrefix("#if") { open.append(words == "#if os(Linux)") }
            if words.hasPrefix("#else") { open[open.count - 1] = false }
            if words.hasPrefix("#endif") { open.removeLast() }
            if open.contains(true) { lines.insert(number + 1) }
        }
        return lines
    }

    private func newest(_ used: [UsedSymbol]) -> String {
        let platform = targets[0].platform
        let named = used.filter { $0.uses.contains { $0.requirement == nil } }.map(\.symbol)
        guard let newest = named.compactMap({ $0.introduced[platform] }).max() else { return "nothing" }
        let names = Set(named.filter { $0.introduced[platform] == newest }.map(\.name)).sorted()
        return "\(platform) \(newest): \(names.joined(separator: ", "))"
    }

    private func count(_ used: [UsedSymbol]) -> [String: Int] {
        Dictionary(grouping: used, by: \.symbol.module).mapValues(\.count)
    }

    private func list(_ counts: [String: Int]) -> String {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) of \($0.key)" }
            .joined(separator: ", ")
    }

    /// "macOS 15, iOS 18": in the order of the manifest.
    private func text(_ versions: [String: Version]) -> String {
        targets.compactMap { target in
            versions[target.platform].map { $0 == .never ? "no \(target.platform)" : "\(target.platform) \($0)" }
        }.joined(separator: ", ")
    }
}
