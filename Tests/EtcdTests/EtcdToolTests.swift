import Foundation
import PersistentPreferencesEtcd
import TestSupport
import Testing

/// `prefs --store etcd://…`: the built tool on a cluster.
@Suite(.enabled(if: EtcdCluster.isThere)) struct EtcdToolTests {
    private let url: String
    private let home: TemporaryFolder

    init() throws {
        let cluster = try EtcdCluster.shared.get()
        url = "etcd://127.0.0.1:\(cluster.nodes[0].clientPort)/\(EtcdCluster.prefix())"
        home = try TemporaryFolder()
    }

    private func prefs(_ words: [String]) throws -> Child.Result {
        try Child("prefs", words + ["--store", url], home: home).wait(limit: .seconds(60))
    }

    @Test func eachCommandReadsAndWritesTheCluster() async throws {
        try await onThread {
            #expect(try prefs(["show"]).output.hasPrefix("root   PrefsTestSet\nstore  \(url)\n"))
            #expect(try prefs(["get", "int", "--stored"]).code == 1, "a look stores no sample values here")
            #expect(try prefs(["set", "int", "9"]).code == 0)
            let watch = try PipedChild("prefs", ["watch", "--store", url], home: home, mergesErrors: true)
            #expect(try watch.line() == "prefs: watching \(url); press Ctrl-C to stop")
            #expect(try prefs(["increment", "int"]).code == 0)
            #expect(try watch.line().hasSuffix("  Integer Value: 9 → 10  (elsewhere)"))
            watch.send(SIGTERM)
            #expect(try watch.exitCode() == 0)
            #expect(try prefs(["export"]).output == "{\n  \"Integer Value\": 10\n}\n")
            let file = home.file("values.json")
            try Data(#"{"String Value": "x"}"#.utf8).write(to: file)
            #expect(try prefs(["import", file.path(percentEncoded: false)]).code == 0)
            #expect(try prefs(["get", "string"]).output == "x\n")
            #expect(try prefs(["set", "int", "x"]).code == 1)
            #expect(try home.names() == ["values.json"], "nothing is stored on this machine")
        }
    }

    @Test func aURLOfAnotherKindIsAUsageError() throws {
        for url in ["https://localhost:2379/p", "etcd://", "nonsense"] {
            let result = try Child("prefs", ["get", "int", "--store", url], home: home).wait()
            #expect(result.code == 64 && result.errors.contains("etcd"), "\(url): \(result)")
        }
    }
}
