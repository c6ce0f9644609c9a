import Foundation
import PersistentPreferences
import Testing

@testable import PrefsEtcd

/// What stores are made of. Without a cluster.
@Suite struct EtcdOptionsTests {
    @Test func noPasswordIsShown() throws {
        let options = EtcdStore.Options(user: "ann", password: "hunter2")
        let server = try #require(URL(string: "http://127.0.0.1:1"))
        let store = EtcdStore(endpoints: [server], options: options)
        let ofURL = try EtcdStore(url: "etcd://ann:hunter2@127.0.0.1:1/a/")
        let values: [Any] = [
            options, store, store.store, ofURL, PrefsStore.etcd(endpoints: [server], options: options),
        ]
        for value in values {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains("hunter2"), "\(text)")
        }
        #expect("\(options)".contains("ann"))
    }

    @Test(
        arguments: [
            ("etcd://h", ["http://h"], "prefs/", nil, ""), ("etcd://h/", ["http://h"], "prefs/", nil, ""),
            ("etcd://h:1,[::1]:2/a", ["http://h:1", "http://[::1]:2"], "a/", nil, ""),
            ("ETCD://ann@h/a/b/", ["http://h"], "a/b/", "ann", ""),
            ("etcd://ann:@h", ["http://h"], "prefs/", "ann", ""),
            ("etcd://ann:a:b:@h", ["http://h"], "prefs/", "ann", "a:b:"),
            ("etcd://a%3Ab:c%40d%2Fe@h/p%3F", ["http://h"], "p?/", "a:b", "c@d/e"),
        ] as [(String, [String], String, String?, String)])
    func aURLHasServersAPrefixAndAUser(
        _ text: String, endpoints: [String], prefix: String, user: String?, password: String
    ) throws {
        let url = try EtcdURL(text)
        #expect(url.endpoints.map(\.absoluteString) == endpoints)
        #expect(url.prefix == prefix && url.user == user && url.password == password)
    }

    @Test(arguments: [
        ("http://h", "h", "h:2379"), ("http://h/", "h", "h:2379"), ("HTTP://h:1", "h", "h:1"),
        ("http://[::1]:7", "::1", "[::1]:7"), ("http://[fe80::2]/", "fe80::2", "[fe80::2]:2379"),
    ]) func anEndpointHasAHostAndAPort(_ text: String, host: String, description: String) throws {
        let endpoint = try Endpoint(#require(URL(string: text)))
        #expect(endpoint.host == host && endpoint.description == description)
    }

    /// The stores of a process share what they know, if they have the same servers, prefix and options. The order of the servers, how to
    /// read, and what is below the least times make no difference.
    @Test func storesOfEqualServersPrefixAndOptionsShareWhatTheyKnow() throws {
        let urls = try (1...2).map { try #require(URL(string: "http://127.0.0.1:\($0)")) }
        func store(
            _ endpoints: [URL]? = nil, _ prefix: String = "p/", reads: EtcdStore.ReadMode = .followed,
            user: String? = "ann", password: String = "x", deadline: Duration = .milliseconds(100),
            staleness: Duration = .seconds(1), file: String? = nil
        ) -> EtcdStore {
            EtcdStore(
                endpoints: endpoints ?? urls, prefix: prefix,
                options: .init(
                    reads: reads, user: user, password: password, deadline: deadline, staleness: staleness),
                lastKnown: file.map { URL(filePath: "/none/\($0)") })
        }
        let one = store()
        let alike = [
            store(urls.reversed()), store(urls + urls), store(reads: .current),
            store(deadline: .zero, staleness: .zero), store(deadline: .milliseconds(99), staleness: .milliseconds(999)),
        ]
        for store in alike { #expect(try store.namespace === one.namespace) }
        let others = [
            one, store([urls[0]]), store(nil, "q/"), store(user: nil), store(user: "bob"), store(password: "y"),
            store(deadline: .milliseconds(101)), store(staleness: .milliseconds(1_001)), store(file: "a"),
            store(file: "b"),
        ]
        #expect(try Set(others.map { ObjectIdentifier(try $0.namespace) }).count == others.count)
    }
}
