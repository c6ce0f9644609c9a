import Foundation
import PrefsEtcd
import PrefsJSON
import Testing
import TestSupport

/// `prefs -f etcd://…`: the built tool on a cluster.
@Suite(.waits, .enabled(if: EtcdCluster.isWhole)) final class EtcdToolTests: FleetSuite {
    private func prefs(_ words: [String]) throws -> Child.Result {
        try Child("prefs", words + ["-f", url], home: home).wait()
    }

    private func rootOf(_ words: [String]) throws -> Child.Result { try prefs(words + ["--root", "WorkerPrefs"]) }

    @Test func eachCommandReadsAndWritesTheCluster() throws {
        #expect(try prefs(["show"]).output == "", "a look stores nothing")
        #expect(try rootOf(["show"]).errors == "prefs: the root `WorkerPrefs` of \(url) not found\n")
        #expect(try rootOf(["set", "limit", "9"]).code == 0)
        #expect(try prefs(["show"]).output == "WorkerPrefs\n")
        #expect(try prefs(["show", "--json"]).output == "[\"WorkerPrefs\"]\n")
        #expect(
            try rootOf(["show"]).output
                == "store  the root `WorkerPrefs` of \(url)\n\nKEY    TYPE     VALUE\nlimit  integer  9\n")
        let watch = try PipedChild(
            "prefs", ["watch", "-f", url, "--root", "WorkerPrefs"], home: home, mergesErrors: true)
        #expect(
            try watch.line() == "prefs: watching the root `WorkerPrefs` of \(url); press Ctrl-C to stop")
        #expect(try rootOf(["set", "limit", "+1"]).code == 0)
        let line = try watch.line()
        #expect(line.contains("  limit: 9 → 10  by ") && line.contains(" prefs (process "), "\(line)")
        // What no client of this package has written has no author.
        #expect(try cluster.control("put", "\(prefix)r/WorkerPrefs", #"{"limit": 11}"#) == "OK\n")
        #expect(try watch.line().hasSuffix("  limit: 10 → 11"))
        let json = try PipedChild(
            "prefs", ["watch", "--json", "-f", url, "--root", "WorkerPrefs"], home: home, mergesErrors: true)
        _ = try json.line()
        #expect(try rootOf(["set", "limit", "10"]).code == 0)
        let object = try JSONSerialization.jsonObject(with: Data(json.line().utf8)) as? [String: Any]
        #expect((object?["by"] as? String)?.contains(" prefs (process ") == true, "\(object as Any)")
        json.send(SIGTERM)
        #expect(try json.exitCode() == 0)
        watch.send(SIGTERM)
        #expect(try watch.exitCode() == 0)
        #expect(try rootOf(["export"]).output == "{\n  \"limit\": 10\n}\n")
        let file = home.file("values.json")
        try Data(#"{"mode": {"dark": true}}"#.utf8).write(to: file)
        #expect(try rootOf(["import", file.path(percentEncoded: false)]).code == 0)
        #expect(try rootOf(["get", "mode.dark"]).output == "true\n")
        #expect(try rootOf(["unset", "mode.dark"]).code == 0)
        let stored = try rootOf(["export"]).output
        #expect(stored == "{\n  \"limit\": 10,\n  \"mode\": {}\n}\n", "\(stored)")
        #expect(try rootOf(["unset", "--all", "--force"]).code == 0)
        #expect(try prefs(["show"]).output == "")
        #expect(try home.names() == ["values.json"], "nothing is stored on this machine")
    }

    /// A root of other programs has no keys of the test set.
    @Test func noKeyOfTheSampleIsWritten() throws {
        #expect(try rootOf(["set", "int", "7"]).code == 0)
        #expect(try rootOf(["export"]).output == "{\n  \"int\": 7\n}\n")
        let result = try prefs(["set", "int", "7"])
        #expect(
            result.code == 64
                && result.errors == "prefs: \(url) has roots; give --root NAME (`prefs show` lists them)\n", "\(result)"
        )
        #expect(try prefs(["show"]).output == "WorkerPrefs\n")
    }

    /// A password is on the command line, but not in what the tool prints.
    @Test func noPasswordIsPrinted() throws {
        let cluster = try EtcdCluster(nodes: 1)
        try cluster.addUsers("root:hush")
        let host = "127.0.0.1:\(cluster.nodes[0].clientPort)/p"
        for user in ["root:hush", "root:hu%73h", "ann:hush"] {
            let url = "etcd://\(user)@\(host)"
            for words in [["set", "a", "1", "--root", "R"], ["show", "--root", "R"], ["show"], ["get", "a"]] {
                let result = try Child("prefs", words + ["-f", url], home: home).wait()
                #expect(!(result.output + result.errors).contains("hush"), "\(result)")
                #expect((result.code == 0) == (user.hasPrefix("root") && words[0] != "get"), "\(result)")
                if words == ["show", "--root", "R"], result.code == 0 {
                    #expect(result.output.hasPrefix("store  the root `R` of etcd://\(host)\n"), "\(result)")
                }
            }
        }
    }

    @Test(arguments: [
        (["set", "int", "9", "--timeout", "1", "-f", "URL"], 64, "--timeout is for the lock of a file"),
        (["undo", "--root", "R", "-f", "URL"], 1, "undo is not available"),
        (["doctor", "--root", "R", "-f", "URL"], 1, "has no file"),
        (["diff", "URL", "x.plist"], 2, "has roots"),
        // URLs of other kinds.
        (["get", "int", "-f", "https://localhost:2379/p"], 64, "etcd"),
        (["get", "int", "-f", "etcd://"], 64, "etcd"),
        (["get", "int", "-f", "etcd://ann:1/hush@localhost:2379/p"], 64, "etcd"),
    ])
    func whatDoesNotGoWithAStoreIsRejected(_ words: [String], _ code: Int32, _ reason: String) throws {
        let result = try Child("prefs", words.map { $0 == "URL" ? url : $0 }, home: home).wait()
        #expect(result.code == code && result.errors.contains(reason), "\(result)")
        #expect(!(result.output + result.errors).contains("hush"), "\(result)")
    }
}
