import Foundation

/// A symbol of the toolchain's modules.
struct KnownSymbol {
    let name: String
    let module: String
    /// For each platform, the version that it is available from. Empty if the module does not say.
    var introduced: [String: Version]
}

/// The symbols of symbol graphs, which `swift symbolgraph-extract` writes.
struct SymbolTable {
    private var symbols: [String: KnownSymbol] = [:]
    private var parents: [String: String] = [:]
    private var defaultImplementations: [String: [String]] = [:]

    /// Symbols that were there before in another form, which the same source code means on an older system.
    private static let moved: Set<String> = [
        // String.data(using:allowLossyConversion:) was a member of StringProtocol in Foundation.
        "s:SS20FoundationEssentialsE4data5using20allowLossyConversionAA4DataVSgSSAAE8EncodingV_SbtF"
    ]

    mutating func add(_ file: URL) throws {
        // `Module.symbols.json`, or `Module@Extended.symbols.json` for what a module adds to another one.
        let module = file.lastPathComponent.prefix { $0 != "@" && $0 != "." }
        let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: file))
        var constrained: Set<String> = []
        var implementations: [Graph.Relationship] = []
        for symbol in graph.symbols {
            let usr = symbol.identifier.precise
            symbols[usr] = KnownSymbol(
                name: symbol.pathComponents.joined(separator: "."), module: String(module),
                introduced: Self.moved.contains(usr) ? [:] : symbol.introduced)
            if symbol.swiftExtension?.constraints != nil { constrained.insert(usr) }
        }
        for relation in graph.relationships {
            switch relation.kind {
            case "memberOf", "requirementOf": parents[relation.source] = relation.target
            case "defaultImplementationOf" where !constrained.contains(relation.source):
                implementations.append(relation)
            default: break
            }
        }
        for relation in implementations {
            // The graph relates all overloads of a name. Those of one type have manglings with the same end.
            guard let type = parents[relation.target], relation.source.hasPrefix(type),
                relation.source.hasSuffix(relation.target.dropFirst(type.count))
            else { continue }
            defaultImplementations[relation.target, default: []].append(relation.source)
        }
    }

    /// A symbol, which needs what the types around it need, too.
    subscript(usr: String) -> KnownSymbol? {
        guard var symbol = symbols[usr] else { return nil }
        // Where a requirement is too new, the compiler takes an older default implementation of it.
        for implementation in defaultImplementations[usr] ?? [] {
            let introduced = symbols[implementation]?.introduced ?? [:]
            symbol.introduced = symbol.introduced.filter { platform, version in
                introduced[platform].map { $0 >= version } ?? false
            }
        }
        var outer = parents[usr]
        while let usr = outer {
            symbol.introduced.merge(symbols[usr]?.introduced ?? [:]) { max($0, $1) }
            outer = parents[usr]
        }
        return symbol
    }
}

/// The version of a platform.
struct Version: Comparable, Decodable, CustomStringConvertible {
    let major: Int
    var minor: Int?

    /// Of what is not available at all.
    static let never = Version(major: .max)

    static func < (left: Version, right: Version) -> Bool {
        (left.major, left.minor ?? 0) < (right.major, right.minor ?? 0)
    }

    var description: String {
        self == .never ? "never" : (minor ?? 0) == 0 ? "\(major)" : "\(major).\(minor ?? 0)"
    }
}

/// A file that `swift symbolgraph-extract` writes.
private struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Identifier: Decodable {
            let precise: String
        }
        struct Availability: Decodable {
            let domain: String?
            let introduced: Version?
            let isUnconditionallyUnavailable: Bool?
        }
        struct Extension: Decodable {
            struct Constraint: Decodable {}
            let constraints: [Constraint]?
        }
        let identifier: Identifier
        let pathComponents: [String]
        let availability: [Availability]?
        let swiftExtension: Extension?

        var introduced: [String: Version] {
            var introduced: [String: Version] = [:]
            for availability in availability ?? [] {
                guard let domain = availability.domain else { continue }
                introduced[domain] =
                    availability.isUnconditionallyUnavailable == true ? .never : availability.introduced
            }
            return introduced
        }
    }

    struct Relationship: Decodable {
        let kind: String
        let source: String
        let target: String
    }

    let symbols: [Symbol]
    let relationships: [Relationship]
}
