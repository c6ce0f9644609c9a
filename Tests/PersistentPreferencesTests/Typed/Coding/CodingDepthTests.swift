@testable import PrefsSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsPropertyLists

private final class Link: Codable {
    var next: Link?
    var others: [Link]?

    init(next: Link? = nil) { self.next = next }

    static func chain(of levels: Int) -> Link { (1..<levels).reduce(Link()) { next, _ in Link(next: next) } }
}

/// Makes a number of nested containers by hand.
private struct Digger: Codable {
    var levels: Int

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for _ in 0..<levels {
            var inner = container.nestedUnkeyedContainer()
            swap(&container, &inner)
        }
    }
}

private final class DepthPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var link: Held<Link>? = nil
    @Pref var links: [String: [Held<Link>]] = [:]
    @Pref var digger: Digger? = nil
}

/// Values that contain themselves more deeply than a property list may.
@Suite struct CodingDepthTests {
    /// Runs on the stack of a secondary thread of Apple platforms.
    @Test func whatIsTooDeepIsRejected() throws {
        let store = PrefsStore.memory()
        try onSmallStack {
            let prefs = DepthPrefs(store: store)
            prefs.link = Held(Link())
            for levels in [65, 200, 300, 5_000] {
                let top = Link.chain(of: levels)
                prefs.link = Held(top)
                let path = String(repeating: ".next", count: levels < 98 ? 64 : 97)
                #expect(prefs.outcome == "link\(path): nested deeper than 64 levels")
                // Releases link by link, so that no deinit runs inside another one.
                var link: Link? = top
                while let current = link {
                    link = current.next
                    current.next = nil
                }
            }
            let cycle = Link()
            cycle.others = [cycle]
            prefs.links = ["a": [Held(cycle)]]
            #expect(prefs.outcome.hasPrefix("links.a[0].others[0].others[0]."))
            #expect(prefs.outcome.hasSuffix(": nested deeper than 64 levels"))
            cycle.others = nil
            for levels in [64, 200, 1_000, 100_000] {
                prefs.digger = Digger(levels: levels)
                #expect(prefs.outcome.hasPrefix("digger") && prefs.outcome.hasSuffix(": nested deeper than 64 levels"))
            }
            prefs.digger = Digger(levels: 63)
            #expect(prefs.outcome == "ok")
            prefs.digger = nil
            #expect(prefs.values.keys.sorted() == ["link"] && prefs.link?.content.next == nil && prefs.outcome == "ok")
        }
    }

    /// 64 levels can be stored, with any number of optionals between them.
    @Test func whatIsAsDeepAsAPropertyListMayBeIsStored() throws {
        try onSmallStack {
            let prefs = DepthPrefs(store: .memory())
            prefs.link = Held(Link.chain(of: 64))
            #expect(prefs.outcome == "ok")
            var levels = 0
            var link = prefs.link?.content
            while let current = link {
                levels += 1
                link = current.next
            }
            #expect(levels == 64)
            struct Gaps: Codable { var all: [Gaps?] = [] }
            let deep = (1..<32).reduce(Gaps()) { inner, _ in Gaps(all: [nil, inner]) }
            let object = try StoredValueEncoder.value(of: deep)
            #expect((try? PropertyListVetter.check(object)) != nil)
            _ = try StoredValueDecoder.value(Gaps.self, from: object)
        }
    }
}
